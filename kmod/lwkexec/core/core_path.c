/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/core/core_path.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define PATTERN_SIZE 256

static void read_line(const char *path, char line[PATTERN_SIZE])
{
	FILE *file = fopen(path, "re");

	*line = '\0';
	if (file && !fgets(line, PATTERN_SIZE, file))
		*line = '\0';
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
}

/* Prints a name as a part of a path. */
static void print_name(FILE *out, const char *name)
{
	for (; *name; name++)
		putc(*name == '/' ? '!' : *name, out);
}

/* Prints what a letter behind a % stands for; letters that core(5) does not have: nothing. */
static void print_part(FILE *out, char letter, const char *program, int signal)
{
	const char *slash = strrchr(program, '/');
	struct utsname names;

	switch (letter) {
	case '%':
		putc('%', out);
		break;
	case 'p':
	case 'P':
		fprintf(out, "%d", getpid());
		break;
	case 'u':
		fprintf(out, "%u", getuid());
		break;
	case 'g':
		fprintf(out, "%u", getgid());
		break;
	case 's':
		fprintf(out, "%d", signal);
		break;
	case 't':
		fprintf(out, "%lld", (long long)time(NULL));
		break;
	case 'h':
		if (uname(&names) == 0)
			print_name(out, names.nodename);
		break;
	case 'e':
		fprintf(out, "%.15s", slash ? slash + 1 : program);
		break;
	case 'f':
		fputs(slash ? slash + 1 : program, out);
		break;
	case 'E':
		print_name(out, program);
		break;
	}
}

void core_path(char path[PATH_MAX], const char *program, int signal)
{
	char pattern[PATTERN_SIZE], uses_pid[PATTERN_SIZE];
	FILE *out = fmemopen(path, PATH_MAX, "w");
	bool has_pid = false;

	snprintf(path, PATH_MAX, "core");
	read_line("/proc/sys/kernel/core_pattern", pattern);
	read_line("/proc/sys/kernel/core_uses_pid", uses_pid);
	if (!out)
		return;
	if (!*pattern || *pattern == '|')
		snprintf(pattern, sizeof(pattern), "core");
	for (const char *at = pattern; *at; at++) {
		if (*at != '%') {
			putc(*at, out);
			continue;
		}
		if (!*++at)
			break;
		has_pid |= *at == 'p';
		print_part(out, *at, program, signal);
	}
	if (!has_pid && *uses_pid == '1')
		fprintf(out, ".%d", getpid());
	fclose(out);
}
