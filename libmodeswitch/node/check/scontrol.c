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
#define ANSWER_BYTES (256 << 10)

const char *scontrol_path = SCONTROL_PATH, *squeue_path = SQUEUE_PATH;

static char *ask_scontrol(const char *form, const char *what, const char *name)
{
	const char *const argv[] = { scontrol_path, form, "show", what, name, NULL };
	char *output = malloc(ANSWER_BYTES);

	if (output && child_run(argv, clock_ms() + SCONTROL_MS, output, ANSWER_BYTES) == 0)
		return output;
	free(output);
	return NULL;
}

static void own_name(char *host, size_t size)
{
	*host = '\0';
	gethostname(host, size - 1);
	host[size - 1] = '\0';
	host[strcspn(host, ".")] = '\0';
}

void check_ask_slurm(struct checking *checking)
{
	char host[256];

	own_name(host, sizeof(host));
	checking->slurm = ask_scontrol("--oneliner", "config", NULL);
	if (!checking->slurm)
		return;
	checking->node = *host ? ask_scontrol("--oneliner", "node", host) : NULL;
	checking->partitions = ask_scontrol("--oneliner", "partition", NULL);
	checking->json = ask_scontrol("--json", "partition", NULL);
}

/*
 * Finds the job's state in lines "ID STATE"; asked for an array or a heterogeneous job, squeue lists all
 * of its jobs.
 */
static bool find_state(const char *lines, uint32_t job_id, char *state, size_t size)
{
	char begin[32];
	size_t length = snprintf(begin, sizeof(begin), "%u ", job_id);

	for (const char *line = lines; line; line = strchr(line, '\n'), line += !!line) {
		if (strncmp(line, begin, length) == 0) {
			line += length;
			snprintf(state, size, "%.*s", (int)strcspn(line, " \n"), line);
			return true;
		}
	}
	return false;
}

/* A state that is not known here is none of a job that is over, such as that of one that completes. */
static bool is_over(const char *state)
{
	static const char *const over[] = { "PENDING",	   "COMPLETED",	    "CANCELLED",
					    "FAILED",	   "TIMEOUT",	    "NODE_FAIL",
					    "PREEMPTED",   "BOOT_FAIL",	    "DEADLINE",
					    "REVOKED",	   "OUT_OF_MEMORY", "REQUEUE_HOLD",
					    "SPECIAL_EXIT" };

	for (size_t i = 0; i < sizeof(over) / sizeof(*over); i++) {
		if (strcmp(state, over[i]) == 0)
			return true;
	}
	return false;
}

/* scontrol prints the state among texts of the user's, such as the job's name, and squeue alone. */
bool check_job_is_over(uint32_t job_id)
{
	char name[16], state[64], *answer = malloc(ANSWER_BYTES);
	const char *const argv[] = { squeue_path,      "--noheader", "--all", "--states=all",
				     "--format=%A %T", "--jobs",     name,    NULL };
	bool over = false;
	int status;

	if (!answer)
		return false;
	snprintf(name, sizeof(name), "%u", job_id);
	status = child_run(argv, clock_ms() + SCONTROL_MS, answer, ANSWER_BYTES);
	if (status == 0)
		over = find_state(answer, job_id, state, sizeof(state)) && is_over(state);
	else if (status == 1)
		over = strstr(answer, "Invalid job id specified");
	free(answer);
	return over;
}

bool check_drain_node(const char *reason)
{
	char host[256], node[300], why[1500], output[256];
	const char *const argv[] = { scontrol_path, "update", node, "State=DRAIN", why, NULL };

	own_name(host, sizeof(host));
	snprintf(node, sizeof(node), "NodeName=%s", host);
	snprintf(why, sizeof(why), "Reason=%s", reason);
	return *host && child_run(argv, clock_ms() + SCONTROL_MS, output, sizeof(output)) == 0;
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
