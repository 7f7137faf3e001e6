/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait-fault DEVICE: a proxy that touches a page of its process's memory that the LWK does not
 * make, because its CPU hangs (inject=hang). Prints "touches PID" before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "check.h"

#define START (1UL << 34)
#define SIZE (16UL << 20)

static int device;
static struct lwk_channel *channel;

static int64_t ask(uint64_t nr, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	struct lwk_ring *to = &channel->to_lwk, *from = &channel->to_linux;
	struct lwk_serve serve = { 0 };
	int64_t result;

	to->slot[to->head % LWK_RING_SLOTS] = (struct lwk_packet){
		.kind = LWK_PACKET_REQUEST, .id = 5, .nr = nr, .args = { arg0, arg1, arg2 }
	};
	__atomic_store_n(&to->head, to->head + 1, __ATOMIC_RELEASE);
	ioctl(device, LWK_DOORBELL);
	if (ioctl(device, LWK_SERVE, &serve))
		return 1;
	result = from->slot[from->tail % LWK_RING_SLOTS].args[0];
	__atomic_store_n(&from->tail, from->tail + 1, __ATOMIC_RELEASE);
	return result;
}

int main(int argc, char **argv)
{
	struct lwk_proc_create create = { .pid = getpid() };
	volatile char *window;

	device = open(argv[argc - 1], O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) == 0);
	channel = mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE, MAP_SHARED, device,
		       LWK_MMAP_CHANNEL);
	CHECK(channel != MAP_FAILED);
	window = mmap((void *)START, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		      device, LWK_MMAP_WINDOW + START - LWK_USER_START);
	CHECK(window != MAP_FAILED);
	CHECK(ask(LWK_CALL_MAP, START, SIZE, PROT_READ | PROT_WRITE) == 0);
	/* A page that it can make, and then none any more. */
	window[0] = 1;
	CHECK(ask(LWK_CALL_START, START, START + SIZE, 0) == 0);
	printf("touches %d\n", getpid());
	fflush(stdout);
	window[SIZE - 1] = 1;
	puts("touched");
	return 0;
}
