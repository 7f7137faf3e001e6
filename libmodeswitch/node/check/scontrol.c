// SPDX-License-Identifier: GPL-2.0-or-later
#include "node/check/scontrol.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"

#define SCONTROL_MS 20000

static char *ask_scontrol(const char *form, const char *what, const char *name)
{
	const char *const argv[] = { SCONTROL_PATH, form, "show", what, name, NULL };
	size_t size = 256 << 10;
	char *output = malloc(size);

	if (output && child_run(argv, clock_ms() + SCONTROL_MS, output, size) == 0)
		return output;
	free(output);
	return NULL;
}

void check_ask_slurm(struct checking *checking)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	checking->slurm = ask_scontrol("--oneliner", "config", NULL);
	if (!checking->slurm)
		return;
	checking->node = *host ? ask_scontrol("--oneliner", "node", host) : NULL;
	checking->partitions = ask_scontrol("--oneliner", "partition", NULL);
	checking->json = ask_scontrol("--json", "partition", NULL);
}

const char *check_setting(const char *text, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);
	const char *at = text;

	*value = '\0';
	while (at && (at = strcasestr(at, key))) {
		bool begins = at == text || isspace((unsigned char)at[-1]);
		const char *after = at + length + strspn(at + length, " \t");

		if (begins && *after == '=') {
			after += 1 + strspn(after + 1, " \t");
			snprintf(value, size, "%.*s", (int)strcspn(after, " \t\n"), after);
			break;
		}
		at += length;
	}
	return value;
}

unsigned long check_number(const char *text, const char *key)
{
	char value[64];

	return strtoul(check_setting(text, key, value, sizeof(value)), NULL, 10);
}

bool check_has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		if (strcspn(at, ",") == length && strncasecmp(at, word, length) == 0)
			return true;
	}
	return false;
}
