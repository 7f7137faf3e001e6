// SPDX-License-Identifier: GPL-2.0-or-later
#include "interrupts/irqbalance.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/parse.h"
#include "base/process.h"

/*
 * irqbalance answers between two of its rounds. A client that hangs up before kills it, because it
 * does not expect SIGPIPE.
 */
#define ANSWER_SECONDS 10
/* All processes that may be irqbalance have this time together to take a connection. */
#define CONNECT_MS 2000
#define ANSWER_SIZE 65536
#define REQUEST_SIZE 500 /* irqbalance reads no more, with the NUL that it expects */
#define IRQ_MAX 1000000

/* Each user can give a process of his own this name. */
static int is_irqbalance(const struct dirent *entry)
{
	char name[32];

	return isdigit((unsigned char)*entry->d_name) && process_runs_as(atoi(entry->d_name), 0) &&
	       kernel_read(name, sizeof(name), "/proc/%s/comm", entry->d_name) > 0 &&
	       strcmp(name, "irqbalance") == 0;
}

static bool is_roots(int connection)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == 0;
}

/*
 * Returns a connection, or -1; errno is EAGAIN when the queue of clients is full. Nothing is waited for,
 * because each user can bind an abstract name and let its queue be full for ever.
 */
static int connect_to(const struct sockaddr_un *address, socklen_t size)
{
	struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;

	if (connection < 0)
		return -1;
	error = connect(connection, (const struct sockaddr *)address, size) < 0 ? errno : 0;
	if (!error && is_roots(connection) && fcntl(connection, F_SETFL, 0) == 0 &&
	    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
	    setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) == 0)
		return connection;
	close(connection);
	errno = error;
	return -1;
}

/* The socket is in /run, or an abstract one where irqbalance has no directory there. */
static int connect_to_pid(const char *pid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t room = sizeof(address.sun_path), length;
	int connection;

	snprintf(address.sun_path, room, "/run/irqbalance/irqbalance%.10s.sock", pid);
	connection = connect_to(&address, sizeof(address));
	if (connection >= 0 || errno == EAGAIN)
		return connection;
	memset(address.sun_path, 0, room);
	length = snprintf(address.sun_path + 1, room - 1, "irqbalance%.10s.sock", pid);
	return connect_to(&address, offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

/* A process whose queue is full stands in no other's way: all are asked again until the time is over. */
static int connect_to_one(struct dirent *const *entries, int n)
{
	int64_t deadline = clock_ms() + CONNECT_MS;
	int connection = -1;
	bool busy;

	do {
		busy = false;
		for (int i = 0; i < n && connection < 0; i++) {
			connection = connect_to_pid(entries[i]->d_name);
			busy |= connection < 0 && errno == EAGAIN;
		}
	} while (connection < 0 && busy && clock_ms() < deadline && usleep(20000) == 0);
	return connection;
}

static int open_connection(void)
{
	struct dirent **entries = NULL;
	int n = scandir("/proc", &entries, is_irqbalance, NULL);
	int connection = connect_to_one(entries, n);

	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	return connection;
}

/* irqbalance wants the credentials of the sender. */
static int say(int connection, const char *text)
{
	struct ucred self = { .pid = getpid(), .uid = geteuid(), .gid = getegid() };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(self))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(self)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_CREDENTIALS } };
	struct iovec part = { .iov_base = (char *)text, .iov_len = strlen(text) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &self, sizeof(self));
	return sendmsg(connection, &message, MSG_NOSIGNAL) == (ssize_t)part.iov_len ? 0 : -1;
}

/* irqbalance answers one request and closes the connection. */
static void read_answer(int connection, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (length < size - 1 &&
	       (got = recv(connection, text + length, size - 1 - length, 0)) > 0)
		length += got;
	text[length] = '\0';
}

/* Reads the number behind each "IRQ": the interrupts that irqbalance leaves alone. */
static void parse_irqs(const char *text, hwloc_bitmap_t irqs)
{
	static const char word[] = " IRQ ";

	hwloc_bitmap_zero(irqs);
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		long irq = strtol(at + strlen(word), NULL, 10);

		if (irq > 0 && irq < IRQ_MAX)
			hwloc_bitmap_set(irqs, irq);
	}
}

/* Reads a text like "SLEEP 10 IRQ 24 LOAD … BANNED 00000000,000000e0". */
static int parse_setup(char *text, hwloc_bitmap_t cpus, hwloc_bitmap_t irqs)
{
	char *at = strstr(text, "BANNED ");

	if (!at)
		return -1;
	if (irqs)
		parse_irqs(text, irqs);
	at += strlen("BANNED ");
	at[strspn(at, "0123456789abcdefABCDEF,")] = '\0';
	return cpus ? parse_mask(at, cpus) : 0;
}

/* Asks irqbalance; 'cpus' and 'irqs' may be NULL. */
static bool read_setup(hwloc_bitmap_t cpus, hwloc_bitmap_t irqs)
{
	int connection = open_connection(), ret = -1;
	char *text = calloc(1, ANSWER_SIZE);

	if (connection >= 0 && text && say(connection, "setup") == 0) {
		read_answer(connection, text, ANSWER_SIZE);
		ret = parse_setup(text, cpus, irqs);
	}
	free(text);
	if (connection >= 0)
		close(connection);
	return ret == 0;
}

bool irqbalance_banned(hwloc_bitmap_t cpus)
{
	return read_setup(cpus, NULL);
}

bool irqbalance_banned_irqs(hwloc_bitmap_t irqs)
{
	return read_setup(NULL, irqs);
}

static int tell(const char *text, const char *what, struct ms_error *err)
{
	int connection = open_connection(), ret;

	/* irqbalance does not run, or has ended meanwhile. */
	if (connection < 0)
		return 0;
	ret = say(connection, text);
	close(connection);
	return ret < 0 ? ms_fail(err,
				 "irqbalance cannot be told which %s to leave alone: its socket "
				 "does not take it; see whether irqbalance still works",
				 what)
		       : 0;
}

int irqbalance_ban(hwloc_const_bitmap_t cpus, struct ms_error *err)
{
	char list[4096], text[sizeof(list) + 32];

	hwloc_bitmap_list_snprintf(list, sizeof(list), cpus);
	/* irqbalance 1.9.2 crashes on an empty list. */
	snprintf(text, sizeof(text), "settings cpus %s", *list ? list : "NULL");
	return tell(text, "CPUs", err);
}

int irqbalance_ban_irqs(hwloc_const_bitmap_t irqs, struct ms_error *err)
{
	char text[REQUEST_SIZE] = "settings ban irqs";
	size_t at = strlen(text);
	int irq;

	if (hwloc_bitmap_iszero(irqs))
		snprintf(text + at, sizeof(text) - at, " NONE");
	hwloc_bitmap_foreach_begin(irq, irqs) {
		at += snprintf(text + at, sizeof(text) - at, " %d", irq);
		if (at >= sizeof(text))
			return ms_fail(err,
				       "irqbalance cannot be told which interrupts to leave alone: "
				       "it takes requests of %d characters only; it may move them",
				       REQUEST_SIZE - 1);
	}
	hwloc_bitmap_foreach_end();
	return tell(text, "interrupts", err);
}

static int allow(hwloc_const_bitmap_t these, bool (*banned)(hwloc_bitmap_t all),
		 int (*ban)(hwloc_const_bitmap_t all, struct ms_error *err), struct ms_error *err)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc();
	int ret = all ? 0 : ms_fail(err, "out of memory");

	if (all && banned(all) && hwloc_bitmap_intersects(all, these)) {
		hwloc_bitmap_andnot(all, all, these);
		ret = ban(all, err);
	}
	hwloc_bitmap_free(all);
	return ret;
}

int irqbalance_allow(hwloc_const_bitmap_t cpus, struct ms_error *err)
{
	return allow(cpus, irqbalance_banned, irqbalance_ban, err);
}

int irqbalance_allow_irqs(hwloc_const_bitmap_t irqs, struct ms_error *err)
{
	return allow(irqs, irqbalance_banned_irqs, irqbalance_ban_irqs, err);
}
