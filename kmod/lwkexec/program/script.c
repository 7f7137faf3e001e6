/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/program/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lwkexec/base/fail.h"
#include "lwkexec/base/strings.h"

/* Linux reads no more of a script either (binfmt_script.c). */
#define FIRST_LINE 256

int script_read(const char *name, int fd, char **interpreter, char **argument)
{
	static const char blanks[] = " \t";
	char line[FIRST_LINE + 1], *end, *at;
	ssize_t n = pread(fd, line, FIRST_LINE, 0);

	if (n < 2 || memcmp(line, "#!", 2) != 0)
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	at = line + 2 + strspn(line + 2, blanks);
	for (end = at + strlen(at); end > at && strchr(blanks, end[-1]); end--)
		end[-1] = '\0';
	end = at + strcspn(at, blanks);
	/* A name that fills the buffer may be cut off, and would be another one then. */
	if (end == at || end == line + FIRST_LINE)
		return refuse(
			ENOEXEC, EXIT_CANNOT_RUN,
			"%s: expected the name of a program behind #! within the first %d bytes, found none; correct its first line",
			name, FIRST_LINE);
	*argument = *end ? strdup(end + strspn(end, blanks)) : NULL;
	*interpreter = strndup(at, end - at);
	return *interpreter ? 1 : refuse(ENOMEM, EXIT_LWK, "out of memory");
}

char **script_arguments(char *interpreter, char *argument, char *path, char **argv)
{
	size_t argc = strings_count(argv), n = 0;
	char **longer = calloc(argc + 3, sizeof(*longer));

	if (!longer)
		return NULL;
	longer[n++] = interpreter;
	if (argument)
		longer[n++] = argument;
	longer[n++] = path;
	if (argc)
		memcpy(longer + n, argv + 1, argc * sizeof(*argv));
	return longer;
}
