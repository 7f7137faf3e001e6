/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The proxy's half of an LWK process, for programs that are proxies themselves. Each has one process at a
 * time, and a handler of SIGALRM, which ends its waits.
 */
#ifndef OWN_PROXY_H
#define OWN_PROXY_H

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "check.h"
#include "ring.h"

static int device;
static struct lwk_channel *channel;

static inline void on_alarm(int signal)
{
	(void)signal;
}

static inline void handle_alarms(void)
{
	struct sigaction action = { .sa_handler = on_alarm };

	sigaction(SIGALRM, &action, NULL);
}

/* Serves for at most that many milliseconds. */
static inline int serve_for(unsigned ms, struct lwk_serve *serve)
{
	int result;

	/* Again and again, because the first may come before the call waits. */
	ualarm(ms * 1000, ms * 1000);
	result = ioctl(device, LWK_SERVE, serve);
	ualarm(0, 0);
	return result;
}

static inline int map_channel(void)
{
	channel = mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE, MAP_SHARED, device,
		       LWK_MMAP_CHANNEL);
	CHECK(channel != MAP_FAILED);
	return 0;
}

static inline int begin(const char *path)
{
	struct lwk_proc_create create = { .pid = getpid() };

	device = open(path, O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) == 0);
	return map_channel();
}

static inline void end(void)
{
	munmap(channel, sizeof(*channel));
	close(device);
}

static inline void send(const struct lwk_packet *packet)
{
	ring_write(&channel->to_lwk, packet);
	ioctl(device, LWK_DOORBELL);
}

/* Takes the LWK's next packet: 0, or 1: none comes. */
static inline int receive(struct lwk_packet *packet)
{
	struct lwk_serve serve = { 0 };
	unsigned int tries = 0;

	while (serve_for(900, &serve))
		if (errno != EINTR || ++tries == 20)
			return 1;
	return !ring_read(&channel->to_linux, packet);
}

static inline void reply(uint32_t id, int64_t result)
{
	struct lwk_packet packet = { .kind = LWK_PACKET_REPLY, .id = id, .args = { result } };

	send(&packet);
}

/* Does receive(), and gives back the pages that the LWK asks for before. */
static inline int receive_other(struct lwk_packet *packet)
{
	while (!receive(packet)) {
		struct lwk_unmap unmap = { .start = packet->args[0], .size = packet->args[1] };

		if (packet->kind != LWK_PACKET_REQUEST || packet->nr != LWK_CALL_UNMAP)
			return 0;
		reply(packet->id, ioctl(device, LWK_UNMAP, &unmap));
	}
	return 1;
}

/* Returns the LWK's reply to a request; 1 without a reply. */
static inline int64_t ask_with(uint64_t nr, const uint64_t args[6])
{
	struct lwk_packet packet = { .kind = LWK_PACKET_REQUEST, .id = 5, .nr = nr };

	memcpy(packet.args, args, sizeof(packet.args));
	send(&packet);
	if (receive_other(&packet))
		return 1;
	return packet.kind == LWK_PACKET_REPLY && packet.id == 5 ? (int64_t)packet.args[0] : 1;
}

#define ask(nr, ...) ask_with(nr, (const uint64_t[6]){ __VA_ARGS__ })

/* Returns true if Linux can read a byte at this address. */
static inline int readable(uint64_t address)
{
	int ends[2], result;

	if (pipe(ends))
		return -1;
	result = write(ends[1], (void *)address, 1) == 1;
	close(ends[0]);
	close(ends[1]);
	return result;
}

/* ---- processes whose program the proxy writes itself ---- */

/* The memory of such a program. */
#define PAGE 4096UL
#define START 0x100000000UL
#define SIZE (16UL << 10)

/* The device. */
static const char *path;

/* Begins a process, on a CPU that has one if it must, and maps what will be its memory. */
static inline int begin_anywhere(void)
{
	struct lwk_proc_create create = { .pid = getpid(), .flags = LWK_PROC_SHARE };

	device = open(path, O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) == 0);
	CHECK(map_channel() == 0);
	CHECK(mmap((void *)START, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   device, LWK_MMAP_WINDOW + START - LWK_USER_START) == (void *)START);
	return 0;
}

static inline void end_all(void)
{
	munmap((void *)START, SIZE);
	end();
}

/* Has a child do it, which has nothing of this process's own LWK process. Returns what it returns. */
static inline int in_child(pid_t *child, int (*act)(void))
{
	int status;

	*child = fork();
	if (*child == 0) {
		end_all();
		status = act();
		fflush(stdout);
		_exit(status);
	}
	CHECK(*child > 0 && waitpid(*child, &status, 0) == *child);
	return status;
}

static inline int next_request(struct lwk_packet *packet, uint64_t nr)
{
	CHECK(receive_other(packet) == 0);
	CHECK(packet->kind == LWK_PACKET_REQUEST && packet->nr == nr);
	return 0;
}

static inline int ends_with(uint64_t wait_status)
{
	struct lwk_packet packet;

	CHECK(receive_other(&packet) == 0);
	CHECK(packet.kind == LWK_PACKET_NOTICE && packet.nr == LWK_CALL_EXIT);
	CHECK(packet.args[0] == wait_status);
	return 0;
}

#endif
