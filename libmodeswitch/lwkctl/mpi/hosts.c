// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/hosts.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_BYTES (1 << 20)

size_t hosts_item(const char *list)
{
	size_t length = 0;

	for (int depth = 0; list[length] && (depth || !strchr(",;", list[length])); length++)
		depth += list[length] == '[' ? 1 : list[length] == ']' ? -1 : 0;
	return length;
}

struct item {
	const char *prefix, *suffix;
	int prefix_length, suffix_length;
};

/* Tells the names of one range of the brackets, "01-03" or "7". */
static bool tell_range(const struct item *item, const char *range, size_t length,
		       bool (*tell)(const char *name, void *context), void *context)
{
	char *end, name[sizeof(((struct place_node *)0)->name)];
	unsigned long first = strtoul(range, &end, 10), last = first;
	int digits = end - range;

	if (!digits || digits > 9)
		return false;
	if (*end == '-') {
		range = end + 1;
		length -= digits + 1;
		last = strtoul(range, &end, 10);
	}
	if (end != range + length || last < first || last - first > 1 << 20)
		return false;
	for (; first <= last; first++) {
		if (snprintf(name, sizeof(name), "%.*s%0*lu%.*s", item->prefix_length, item->prefix,
			     digits, first, item->suffix_length,
			     item->suffix) >= (int)sizeof(name) ||
		    !tell(name, context))
			return false;
	}
	return true;
}

bool hosts_expand(const char *text, size_t length, bool (*tell)(const char *name, void *context),
		  void *context)
{
	const char *open = memchr(text, '[', length), *close = memchr(text, ']', length), *range;
	char name[sizeof(((struct place_node *)0)->name)];
	struct item item = { .prefix = text };

	if (!open) {
		if (!length || length >= sizeof(name))
			return false;
		snprintf(name, sizeof(name), "%.*s", (int)length, text);
		return tell(name, context);
	}
	if (!close || close < open)
		return false;
	item.prefix_length = open - text;
	item.suffix = close + 1;
	item.suffix_length = text + length - item.suffix;
	for (range = open + 1; range <= close;) {
		size_t n = strcspn(range, ",]");

		if (!tell_range(&item, range, n, tell, context))
			return false;
		range += n + 1;
	}
	return true;
}

bool hosts_slots(const char *text, struct place_node *nodes, size_t n)
{
	size_t filled = 0;

	while (*text) {
		char *end;
		long slots = strtol(text, &end, 10), times = 1;

		if (end == text || slots < 0 || slots > 1 << 20)
			return false;
		if (strncmp(end, "(x", 2) == 0) {
			text = end + 2;
			times = strtol(text, &end, 10);
			if (end == text || *end++ != ')' || times < 1)
				return false;
		}
		for (; times > 0 && filled < n; times--)
			nodes[filled++].slots = slots;
		if (times || (*end && *end != ','))
			return false;
		text = *end ? end + 1 : end;
	}
	return filled == n;
}

struct naming {
	struct place_node *nodes;
	size_t n;
	int site;
};

static bool name_site(const char *name, void *context)
{
	struct naming *naming = context;

	for (size_t i = 0; i < naming->n; i++) {
		if (strcmp(naming->nodes[i].name, name) == 0)
			naming->nodes[i].site = naming->site;
	}
	return true;
}

void hosts_sites(const char *topology, struct place_node *nodes, size_t n)
{
	struct naming naming = { .nodes = nodes, .n = n };

	while (*topology) {
		size_t line = strcspn(topology, "\n");
		const char *level = memmem(topology, line, " Level=0 ", 9);
		const char *list = memmem(topology, line, " Nodes=", 7);

		naming.site++;
		for (list = level && list ? list + 7 : ""; *list && *list > ' ';) {
			size_t length = hosts_item(list), word = strcspn(list, " \n");

			length = length < word ? length : word;
			hosts_expand(list, length, name_site, &naming);
			list += length + (list[length] == ',');
		}
		topology += line + (topology[line] == '\n');
	}
	/* An insertion sort keeps the order of nodes of one site. */
	for (size_t i = 1; i < n; i++) {
		struct place_node node = nodes[i];
		size_t at = i;

		for (; at && nodes[at - 1].site > node.site; at--)
			nodes[at] = nodes[at - 1];
		nodes[at] = node;
	}
}

/* Reads all that scontrol prints, as a text; it gives up by itself when slurmctld does not answer. */
static bool ask(char *answer, size_t size)
{
	char *const argv[] = { SCONTROL_PATH, "--oneliner", "show", "topology", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error, status;
	size_t length = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawn(&pid, SCONTROL_PATH, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (!error && length < size - 1 &&
	       (got = read(ends[0], answer + length, size - 1 - length)) > 0)
		length += got;
	close(ends[0]);
	answer[length] = '\0';
	return !error && waitpid(pid, &status, 0) == pid && status == 0;
}

void hosts_ask_sites(struct place_node *nodes, size_t n)
{
	char *answer = malloc(ANSWER_BYTES);

	if (answer && ask(answer, ANSWER_BYTES))
		hosts_sites(answer, nodes, n);
	free(answer);
}
