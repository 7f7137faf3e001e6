/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mute-memory DEVICE: a proxy that makes requests whose arguments and buffers lie in memory that
 * waits for a program to fill it or to let it be written, which this program never does
 * (userfaultfd(2)). Prints "waits PID" when all requests wait, and stays.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "check.h"

/* Linux 5.7 */
#ifndef UFFDIO_WRITEPROTECT
struct uffdio_writeprotect {
	struct uffdio_range range;
	uint64_t mode;
};
#define UFFDIO_WRITEPROTECT_MODE_WP 1
#define UFFDIO_WRITEPROTECT _IOWR(UFFDIO, 6, struct uffdio_writeprotect)
#endif

#define PAGE 4096
#define N(array) (sizeof(array) / sizeof((array)[0]))

/* The memory that the request waits for. */
enum mute {
	ARGUMENT, /* the argument's, before it is read */
	RESULT,	  /* the argument's, which can be read and not written */
	BUFFER,	  /* that of the buffer that the argument names */
};

union argument {
	struct lwk_proc_create create;
	struct lwk_serve serve;
	struct lwk_usage usage;
	struct lwkpart_kmsg kmsg;
	struct lwk_counters counters;
};

static struct request {
	const char *name;
	unsigned long command;
	enum mute mute;
	union argument argument;
} requests[] = {
	{ "GET_STATUS", LWK_GET_STATUS, ARGUMENT, {} },
	{ "GET_DETAILS", LWK_GET_DETAILS, ARGUMENT, {} },
	{ "GET_USAGE", LWK_GET_USAGE, ARGUMENT, {} },
	{ "KMSG", LWK_KMSG, ARGUMENT, {} },
	{ "COUNTERS", LWK_COUNTERS, ARGUMENT, {} },
	{ "FREEZE", LWK_FREEZE, ARGUMENT, {} },
	{ "EVENTFD", LWK_EVENTFD, ARGUMENT, {} },
	{ "PROC_CREATE", LWK_PROC_CREATE, ARGUMENT, {} },
	{ "THREAD_CREATE", LWK_THREAD_CREATE, ARGUMENT, {} },
	{ "SERVE", LWK_SERVE, ARGUMENT, {} },
	{ "UNMAP", LWK_UNMAP, ARGUMENT, {} },
	{ "GET_USAGE", LWK_GET_USAGE, BUFFER, { .usage.capacity = sizeof(struct lwk_status) } },
	{ "KMSG", LWK_KMSG, BUFFER, { .kmsg.capacity = PAGE } },
	{ "GET_USAGE", LWK_GET_USAGE, RESULT, { .usage.capacity = sizeof(struct lwk_status) } },
	{ "KMSG", LWK_KMSG, RESULT, { .kmsg.capacity = PAGE } },
	{ "COUNTERS", LWK_COUNTERS, RESULT, { .counters.command = LWK_COUNTERS_GET } },
	{ "THREAD_CREATE", LWK_THREAD_CREATE, RESULT, {} },
	/* lwkpart.ko makes a call of read(2), whose buffer is mute. */
	{ "SERVE", LWK_SERVE, BUFFER, { .serve.flags = LWK_SERVE_CALLS } },
};

static int device, faults;
/* A page for each request: not there, and one that cannot be written. */
static uint8_t (*absent)[PAGE], (*protected)[PAGE];
static uint8_t plain[N(requests)][PAGE], answers[N(requests)][sizeof(struct lwk_status)];

static int map_pages(void)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	absent = mmap(NULL, sizeof(plain), prot, flags, -1, 0);
	protected = mmap(NULL, sizeof(plain), prot, flags, -1, 0);
	CHECK(absent != MAP_FAILED && protected != MAP_FAILED);
	return 0;
}

static int make_mute(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	struct uffdio_register range = { .range.len = sizeof(plain) };
	struct uffdio_writeprotect protect = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };

	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	CHECK(faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0);
	range.range.start = (uintptr_t)absent;
	range.mode = UFFDIO_REGISTER_MODE_MISSING;
	CHECK(ioctl(faults, UFFDIO_REGISTER, &range) == 0);
	memcpy(protected, plain, sizeof(plain));
	range.range.start = (uintptr_t)protected;
	range.mode = UFFDIO_REGISTER_MODE_WP;
	CHECK(ioctl(faults, UFFDIO_REGISTER, &range) == 0);
	protect.range = range.range;
	CHECK(ioctl(faults, UFFDIO_WRITEPROTECT, &protect) == 0);
	return 0;
}

/* Writes a call of read(2) from /dev/zero into the channel, as if the LWK wanted it. */
static int forge_read(void *buffer)
{
	struct lwk_channel *channel = mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE,
					   MAP_SHARED, device, LWK_MMAP_CHANNEL);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	CHECK(channel != MAP_FAILED && zero >= 0);
	channel->to_linux.slot[0] = (struct lwk_packet){
		.kind = LWK_PACKET_REQUEST,
		.turn = 1,
		.id = 77,
		.nr = SYS_read,
		.args = { zero, (uintptr_t)buffer, PAGE },
	};
	return 0;
}

/* Writes the argument of the request. */
static int prepare(unsigned i)
{
	union argument *argument = &requests[i].argument;
	void *buffer = requests[i].mute == BUFFER ? absent[i] : answers[i];

	if (requests[i].command == LWK_GET_USAGE)
		argument->usage.buffer = (uintptr_t)buffer;
	if (requests[i].command == LWK_KMSG)
		argument->kmsg.buffer = (uintptr_t)buffer;
	if (requests[i].command == LWK_SERVE && requests[i].mute == BUFFER)
		CHECK(forge_read(buffer) == 0);
	memcpy(plain[i], argument, sizeof(*argument));
	return 0;
}

static void *make_request(void *argument)
{
	unsigned i = (struct request *)argument - requests;
	void *place = requests[i].mute == ARGUMENT ? absent[i]
		      : requests[i].mute == RESULT ? protected[i]
						   : plain[i];
	int result = ioctl(device, requests[i].command, place);

	/* The request has not met what it should wait for. */
	printf("%s, %d: %d (errno %d)\n", requests[i].name, requests[i].mute, result, errno);
	fflush(stdout);
	return NULL;
}

int main(int argc, char **argv)
{
	struct lwk_proc_create create = { .pid = getpid() };
	struct uffd_msg message;
	pthread_t thread;

	CHECK(argc == 2);
	device = open(argv[1], O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) == 0);
	CHECK(map_pages() == 0);
	for (unsigned i = 0; i < N(requests); i++)
		CHECK(prepare(i) == 0);
	CHECK(make_mute() == 0);
	for (unsigned i = 0; i < N(requests); i++)
		CHECK(pthread_create(&thread, NULL, make_request, &requests[i]) == 0);
	for (unsigned i = 0; i < N(requests); i++)
		CHECK(read(faults, &message, sizeof(message)) == sizeof(message) &&
		      message.event == UFFD_EVENT_PAGEFAULT);
	printf("waits %d\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}
