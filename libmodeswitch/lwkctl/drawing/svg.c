// SPDX-License-Identifier: GPL-2.0-or-later
/* Draws a plan with hwloc's lstopo; a colour tells who has a CPU or memory. */
#include "lwkctl/drawing/drawing.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "modeswitch/error.h"
#include "modeswitch/plan.h"

static const char *const colours[N_ROLES] = {
	[ROLE_OTHER] = "#ffffff", [ROLE_SYSTEM] = "#8fb4e8", [ROLE_LINUX] = "#a6dcef",
	[ROLE_LWK] = "#7fcc7f",	  [ROLE_IDLE] = "#f2e08a",   [ROLE_LENT] = "#d9a6d9",
};
static const char *const colour_words[N_ROLES] = {
	[ROLE_OTHER] = "white", [ROLE_SYSTEM] = "blue", [ROLE_LINUX] = "light blue",
	[ROLE_LWK] = "green",	[ROLE_IDLE] = "yellow", [ROLE_LENT] = "violet",
};

static int paint(hwloc_obj_t object, const char *colour)
{
	char style[64];

	snprintf(style, sizeof(style), "Background=%s", colour);
	return hwloc_obj_add_info(object, "lstopoStyle", style);
}

static int paint_all(const struct drawing *drawing, bool used[N_ROLES])
{
	hwloc_obj_t object = NULL;
	int ret = 0;

	while ((object = hwloc_get_next_obj_by_type(drawing->topology, HWLOC_OBJ_PU, object))) {
		enum role role = drawing_role(drawing, object->os_index);

		used[role] = true;
		ret |= paint(object, colours[role]);
	}
	while ((object = hwloc_get_next_obj_by_type(drawing->topology, HWLOC_OBJ_NUMANODE, object)))
		ret |= paint(object, drawing_bytes(drawing, object->os_index)
					     ? colours[ROLE_LWK]
					     : colours[ROLE_OTHER]);
	return ret;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t wrote = write(fd, data, size);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return -1;
		data += wrote;
		size -= wrote;
	}
	return 0;
}

/* Returns a descriptor of an unnamed file with the coloured topology, at its start; -1: failed. */
static int export(const struct drawing *drawing, bool used[N_ROLES])
{
	int fd = memfd_create("topology.xml", MFD_CLOEXEC), size;
	char *xml;

	if (fd < 0)
		return -1;
	if (paint_all(drawing, used) == 0 &&
	    hwloc_topology_export_xmlbuffer(drawing->topology, &xml, &size, 0) == 0) {
		/* The size counts the NUL. */
		int ret = write_all(fd, xml, size - 1);

		hwloc_free_xmlbuffer(drawing->topology, xml);
		if (ret == 0 && lseek(fd, 0, SEEK_SET) == 0)
			return fd;
	}
	close(fd);
	return -1;
}

#define MOST_LINES (N_ROLES + 1)
#define FIXED_ARGUMENTS 14

static void add_legend(const struct drawing *drawing, const bool used[N_ROLES], char **argv,
		       char lines[MOST_LINES][512])
{
	char memory[384] = "";
	size_t n = 0, at = 0, argc = 0;

	while (argv[argc])
		argc++;
	for (unsigned role = 0; role < N_ROLES; role++) {
		if (used[role])
			snprintf(lines[n++], sizeof(*lines), "%s: %s", colour_words[role],
				 drawing_role_text(role));
	}
	for (size_t i = 0; i < drawing->plan->n_memory && at < sizeof(memory); i++) {
		const struct ms_plan_memory *from = &drawing->plan->memory[i];

		if (from->bytes)
			at += snprintf(memory + at, sizeof(memory) - at, "%s%ju MB of node %u",
				       at ? ", " : "", (uintmax_t)(from->bytes >> 20), from->node);
	}
	snprintf(lines[n++], sizeof(*lines), "memory of the LWK: %s", memory);
	for (size_t i = 0; i < n; i++) {
		argv[argc++] = "--append-legend";
		argv[argc++] = lines[i];
	}
	argv[argc++] = "-"; /* standard output */
	argv[argc] = NULL;
}

/* Returns 0, an errno when lstopo could not be run, or -1 when lstopo failed. */
static int run_lstopo(const struct drawing *drawing, const bool used[N_ROLES], int in, int out)
{
	/* clang-format off */
	char *argv[FIXED_ARGUMENTS + 2 * MOST_LINES + 2] = {
		"lstopo", "--input-format", "xml", "--input", "-", "--output-format", "svg",
		"--physical", "--no-factorize", "--no-default-legend", "--filter", "l1:none",
		"--filter", "l1i:none",
	};
	/* clang-format on */
	char *environment[] = { "LC_ALL=C", NULL };
	char lines[MOST_LINES][512];
	posix_spawn_file_actions_t actions;
	int error, status;
	pid_t pid;

	add_legend(drawing, used, argv, lines);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	error = posix_spawn(&pid, LSTOPO_PATH, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		return error;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/*
 * hwloc 2.9 writes viewBox='0 0 637px 586px' where SVG wants bare numbers; some viewers then show
 * nothing.
 */
static void mend_view_box(char *data, size_t size)
{
	static const char attribute[] = "viewBox='";
	char *at = memmem(data, size, attribute, strlen(attribute));

	if (!at)
		return;
	for (at += strlen(attribute); at < data + size && *at != '\''; at++) {
		if (*at == 'p' || *at == 'x')
			*at = ' ';
	}
}

/* Called when the drawing is complete, so that no failure of lstopo leaves a part of it. */
static int copy_to(const char *path, int from, struct ms_error *err)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	char data[65536];
	ssize_t got;
	int ret = 0;

	if (to < 0 || lseek(from, 0, SEEK_SET) < 0) {
		if (to >= 0)
			close(to);
		return ms_fail(err, "%s: %m", path);
	}
	for (bool head = true; ret == 0 && (got = read(from, data, sizeof(data))) > 0;
	     head = false) {
		if (head)
			mend_view_box(data, got);
		ret = write_all(to, data, got);
	}
	if (close(to) < 0 || ret < 0)
		return ms_fail(err, "%s: %m", path);
	return 0;
}

int drawing_write_svg(const struct drawing *drawing, const char *path, struct ms_error *err)
{
	int out = memfd_create("plan.svg", MFD_CLOEXEC), in, ret;
	bool used[N_ROLES] = { false };
	struct stat st;

	in = out < 0 ? -1 : export(drawing, used);
	if (in < 0) {
		ret = ms_fail(err, "%s: the topology cannot be exported: %m", path);
		if (out >= 0)
			close(out);
		return ret;
	}
	ret = run_lstopo(drawing, used, in, out);
	close(in);
	if (ret == ENOENT)
		ret = ms_fail(err,
			      "%s: expected hwloc's lstopo, which draws it, found no " LSTOPO_PATH
			      "; install the package hwloc-nox",
			      path);
	else if (ret > 0)
		ret = ms_fail(err, "%s: lstopo cannot be run: %s", path, strerror(ret));
	else if (ret < 0 || fstat(out, &st) < 0 || !st.st_size)
		ret = ms_fail(err, "%s: expected a drawing by lstopo, found that it failed", path);
	else
		ret = copy_to(path, out, err);
	close(out);
	return ret;
}
