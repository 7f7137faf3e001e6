/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep-device DEVICE: holds the device of an instance open, once by its name only, and its status area mapped, and
 * for each line of its input prints what it can do with them: "NAME: ok" or the error. keep-device --next N:
 * makes and destroys instances until N is the number of the next one (root). Prints when a number is used
 * again at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"

#define TRY(name, succeeds) printf("%s: %s\n", name, (succeeds) ? "ok" : strerror(errno))

static void try_ioctls(int file)
{
	static char text[4096];
	struct lwk_instance_status status;
	struct lwk_instance_details details;
	struct lwk_proc_create create = { .pid = getpid() };
	struct lwk_thread_create thread = { 0 };
	struct lwk_serve serve = { 0 };
	struct lwk_unmap unmap = { LWK_USER_START, 4096 };
	struct lwk_usage usage = { .buffer = (uintptr_t)text, .capacity = sizeof(text) };
	struct lwkpart_kmsg kmsg = { .buffer = (uintptr_t)text, .capacity = sizeof(text) };
	struct lwk_eventfd event = { .fd = eventfd(0, 0) };
	struct lwk_freeze freeze = { .frozen = 0, .timeout_ms = 1000 };
	struct lwk_counters counters = { .command = LWK_COUNTERS_GET };

	TRY("GET_STATUS", ioctl(file, LWK_GET_STATUS, &status) == 0);
	TRY("GET_DETAILS", ioctl(file, LWK_GET_DETAILS, &details) == 0);
	TRY("PROC_CREATE", ioctl(file, LWK_PROC_CREATE, &create) == 0);
	TRY("THREAD_CREATE", ioctl(file, LWK_THREAD_CREATE, &thread) == 0);
	TRY("SERVE", ioctl(file, LWK_SERVE, &serve) == 0);
	TRY("DOORBELL", ioctl(file, LWK_DOORBELL) == 0);
	TRY("UNMAP", ioctl(file, LWK_UNMAP, &unmap) == 0);
	TRY("GET_USAGE", ioctl(file, LWK_GET_USAGE, &usage) == 0);
	TRY("KMSG", ioctl(file, LWK_KMSG, &kmsg) == 0);
	TRY("EVENTFD", ioctl(file, LWK_EVENTFD, &event) == 0);
	TRY("FREEZE", ioctl(file, LWK_FREEZE, &freeze) == 0);
	TRY("COUNTERS", ioctl(file, LWK_COUNTERS, &counters) == 0);
	TRY("GRANT", ioctl(file, LWK_GRANT) == 0);
	TRY("PROC_END", ioctl(file, LWK_PROC_END) >= 0);
	close(event.fd);
}

static void try_map(const char *name, int file, size_t size, off_t offset)
{
	void *area = mmap(NULL, size, PROT_READ, MAP_SHARED, file, offset);

	TRY(name, area != MAP_FAILED);
	if (area != MAP_FAILED)
		munmap(area, size);
}

static void try_open(const char *name, int node, int flags)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", node);
	file = open(path, flags | O_CLOEXEC);
	TRY(name, file >= 0);
	if (file >= 0)
		close(file);
}

/* Returns true if Linux can read the byte; else errno says why. */
static bool readable(const void *byte)
{
	int ends[2], error;
	bool done;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	done = write(ends[1], byte, 1) == 1;
	error = errno;
	close(ends[0]);
	close(ends[1]);
	errno = error;
	return done;
}

static int keep(const char *device)
{
	int node = open(device, O_PATH | O_CLOEXEC), file = open(device, O_RDWR | O_CLOEXEC);
	char *line = NULL;
	size_t size = 0;
	void *status;

	TRY("open", file >= 0);
	status = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, LWK_MMAP_STATUS);
	/* The page is in this process's page tables when the instance ends. */
	if (file >= 0)
		TRY("status while it runs", readable(status));
	do {
		fflush(stdout);
		if (getline(&line, &size, stdin) < 0)
			return 0;
		/* Serving a process of an LWK has no end. */
		alarm(30);
		TRY("status", readable(status));
		try_open("reopen", node, O_RDWR);
		try_open("reopen to read", node, O_RDONLY);
		/* A file that is not open is tried by its name only. */
		try_ioctls(file < 0 ? node : file);
		try_map("map status", file < 0 ? node : file, 4096, LWK_MMAP_STATUS);
		try_map("map channel", file < 0 ? node : file, sizeof(struct lwk_channel),
			LWK_MMAP_CHANNEL);
		try_map("map window", file < 0 ? node : file, 4096, LWK_MMAP_WINDOW);
		puts("done");
	} while (1);
}

static int advance(unsigned next)
{
	struct lwkpart_create create = { .uid = 0 };
	struct lwkpart_instance_op op = { 0 };
	unsigned tries, last = LWKPART_MAX_INSTANCES;
	int device = open(LWKPART_DEVICE, O_RDWR | O_CLOEXEC);

	for (tries = 0; tries < LWKPART_MAX_INSTANCES; tries++) {
		if (ioctl(device, LWKPART_CREATE, &create)) {
			perror("LWKPART_CREATE");
			return 1;
		}
		op.instance = create.instance;
		ioctl(device, LWKPART_DESTROY, &op);
		if (create.instance == last) {
			printf("number %u: used again at once\n", last);
			return 1;
		}
		last = create.instance;
		if ((create.instance + 1) % LWKPART_MAX_INSTANCES == next)
			break;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--next") == 0)
		return advance(atoi(argv[2]));
	return keep(argv[argc - 1]);
}
