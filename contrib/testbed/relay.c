// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * relay END END --control SOCKET [--delay MS] [--rate MBIT] [--daemonize FILE]: a link between
 * two networks. It carries Ethernet frames from each end to the other one, delays each by MS
 * milliseconds, and lets at most MBIT million bits a second pass each way, whichever machines send
 * them. 0, the default, is no limit. Frames between machines of one end stay there.
 *
 * An end is tap:NAME, a tap device that is there, or dgram:OWN,PEER, two sockets of QEMU's -netdev
 * dgram.
 *
 * Whoever connects to SOCKET and writes a line "delay=MS rate=MBIT", with both words, one or none,
 * gets the link's settings and what has crossed so far as a line of JSON.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX 65600
/*
 * Frames that would wait longer for their turn are dropped, as a router with so much memory does.
 */
#define QUEUE_NS 250000000ULL
/* A socket of QEMU holds few frames; when it has no room, they are tried again so much later. */
#define RETRY_NS 200000ULL

/* Machines at an end whose addresses are known; a test bed has fewer. */
#define STATIONS 64

struct frame {
	struct frame *next;
	uint64_t due;
	size_t length;
	char bytes[];
};

/* Data that enters at an end, on its way to the other end. */
struct way {
	int from, to;
	struct frame *first, **last;
	uint64_t free_at;  /* when the link can take another frame */
	uint64_t retry_at; /* when the far end may have room again */
	uint64_t frames, bytes, dropped;
	char stations[STATIONS][ETH_ALEN]; /* addresses that have sent at this end */
	unsigned int n_stations;
};

static struct {
	const char *ends[2], *control, *pidfile;
	double delay_ms, rate_mbit;
} link_options;
static struct way ways[2];
static int n_ends;

static void fail(const char *subject)
{
	fprintf(stderr, "relay: %s: %s\n", subject, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* ---- ends ---- */

static int open_tap(const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0)
		fail(name);
	return fd;
}

static struct sockaddr_un address(const char *path, size_t length)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (length >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		fail(path);
	}
	memcpy(address.sun_path, path, length);
	return address;
}

/* QEMU may come later, and go: a frame that cannot be sent then is lost, as on a cut cable. */
static struct sockaddr_un peers[2];

static int open_datagrams(const char *text, struct sockaddr_un *peer)
{
	const char *comma = strchr(text, ',');
	struct sockaddr_un own;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (!comma || fd < 0) {
		errno = comma ? errno : EINVAL;
		fail(text);
	}
	own = address(text, comma - text);
	*peer = address(comma + 1, strlen(comma + 1));
	unlink(own.sun_path);
	if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0)
		fail(own.sun_path);
	return fd;
}

static int open_end(int end)
{
	const char *text = link_options.ends[end];

	if (!strncmp(text, "tap:", 4))
		return open_tap(text + 4);
	if (!strncmp(text, "dgram:", 6))
		return open_datagrams(text + 6, &peers[end]);
	errno = EINVAL;
	fail(text);
	return -1;
}

/* ---- the link ---- */

static uint64_t transmission_ns(size_t length)
{
	return link_options.rate_mbit > 0 ? length * 8e3 / link_options.rate_mbit : 0;
}

static bool is_at(const struct way *way, const char *address)
{
	for (unsigned int i = 0; i < way->n_stations; i++)
		if (!memcmp(way->stations[i], address, ETH_ALEN))
			return true;
	return false;
}

/*
 * True when the frame is for a machine at the end that it comes from: a hub there repeats it to
 * all.
 */
static bool stays(struct way *way, const char *frame, size_t length)
{
	const char *to = frame, *from = frame + ETH_ALEN;

	if (length < ETH_HLEN)
		return true;
	if (!is_at(way, from) && way->n_stations < STATIONS)
		memcpy(way->stations[way->n_stations++], from, ETH_ALEN);
	return is_at(way, to);
}

/* Takes what has come; false when there is nothing. */
static bool take(struct way *way)
{
	static char buffer[FRAME_MAX];
	ssize_t length = read(way->from, buffer, sizeof(buffer));
	uint64_t now = now_ns(), begin = now > way->free_at ? now : way->free_at;
	struct frame *frame;

	if (length <= 0)
		return false;
	if (stays(way, buffer, length))
		return true;
	frame = begin - now > QUEUE_NS ? NULL : malloc(sizeof(*frame) + length);
	if (!frame) {
		way->dropped++;
		return true;
	}
	way->free_at = begin + transmission_ns(length);
	frame->due = way->free_at + (uint64_t)(link_options.delay_ms * 1e6);
	frame->length = length;
	frame->next = NULL;
	memcpy(frame->bytes, buffer, length);
	*way->last = frame;
	way->last = &frame->next;
	return true;
}

static uint64_t next_at(const struct way *way)
{
	if (!way->first)
		return UINT64_MAX;
	return way->first->due > way->retry_at ? way->first->due : way->retry_at;
}

static void deliver(struct way *way, const struct sockaddr_un *peer)
{
	struct frame *frame = way->first;
	ssize_t sent = peer->sun_family ? sendto(way->to, frame->bytes, frame->length, 0,
						 (const struct sockaddr *)peer, sizeof(*peer))
					: write(way->to, frame->bytes, frame->length);

	if (sent < 0 && errno == EAGAIN && now_ns() < frame->due + QUEUE_NS) {
		way->retry_at = now_ns() + RETRY_NS;
		return;
	}
	if (sent < 0) {
		way->dropped++;
	} else {
		way->frames++;
		way->bytes += frame->length;
	}
	way->first = frame->next;
	if (!way->first)
		way->last = &way->first;
	free(frame);
}

/* ---- orders ---- */

static bool read_order(char *line)
{
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n")) {
		char *value = strchr(word, '='), *end;
		double number = value ? strtod(value + 1, &end) : -1;

		if (number < 0 || number > 1e6 || end == value + 1 || *end)
			return false;
		if (!strncmp(word, "delay=", 6))
			link_options.delay_ms = number;
		else if (!strncmp(word, "rate=", 5))
			link_options.rate_mbit = number;
		else
			return false;
	}
	return true;
}

static void print_state(int fd)
{
	dprintf(fd,
		"{\"delay_ms\":%g,\"rate_mbit\":%g,"
		"\"ways\":[{\"frames\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"dropped\":%" PRIu64 "},"
		"{\"frames\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"dropped\":%" PRIu64 "}]}\n",
		link_options.delay_ms, link_options.rate_mbit, ways[0].frames, ways[0].bytes,
		ways[0].dropped, ways[1].frames, ways[1].bytes, ways[1].dropped);
}

static void obey(int control)
{
	int fd = accept4(control, NULL, NULL, SOCK_CLOEXEC);
	/* A program that connects and writes nothing must not hold up the link for long. */
	struct timeval patience = { .tv_usec = 100000 };
	char line[128];
	ssize_t length;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	length = read(fd, line, sizeof(line) - 1);
	if (length > 0) {
		line[length] = '\0';
		if (read_order(line))
			print_state(fd);
		else
			dprintf(fd, "{\"error\":\"expected delay=MS and rate=MBIT\"}\n");
	}
	close(fd);
}

static int open_control(const char *path)
{
	struct sockaddr_un own = address(path, strlen(path));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0 || listen(fd, 4) < 0)
		fail(path);
	return fd;
}

static void carry(int control)
{
	struct pollfd polled[] = { { ways[0].from, POLLIN, 0 },
				   { ways[1].from, POLLIN, 0 },
				   { control, POLLIN, 0 } };

	for (;;) {
		uint64_t now, due = UINT64_MAX;
		struct timespec wait;

		for (int i = 0; i < 2; i++) {
			while (take(&ways[i]))
				;
			for (now = now_ns(); next_at(&ways[i]) <= now;)
				deliver(&ways[i], &peers[!i]);
			if (next_at(&ways[i]) < due)
				due = next_at(&ways[i]);
		}
		now = now_ns();
		due = due > now ? due - now : 0;
		wait = (struct timespec){ due / 1000000000, due % 1000000000 };
		if (ppoll(polled, 3, ways[0].first || ways[1].first ? &wait : NULL, NULL) > 0 &&
		    polled[2].revents)
			obey(control);
	}
}

/* Returns in a process of its own; the caller's ends when orders can come. */
static void go_to_background(void)
{
	pid_t process = fork();
	FILE *file;

	if (process < 0)
		fail("fork");
	if (process == 0) {
		setsid();
		return;
	}
	file = fopen(link_options.pidfile, "w");
	if (!file || fprintf(file, "%d\n", process) < 0 || fclose(file) != 0) {
		kill(process, SIGKILL);
		fail(link_options.pidfile);
	}
	exit(0);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	double *number = key == 'd' ? &link_options.delay_ms : &link_options.rate_mbit;
	char *end;

	switch (key) {
	case 'c':
		link_options.control = text;
		return 0;
	case 'p':
		link_options.pidfile = text;
		return 0;
	case 'd':
	case 'r':
		*number = strtod(text, &end);
		if (end == text || *end || *number < 0 || *number > 1e6)
			argp_error(state, "expected a number from 0 to 1000000, found \"%s\"",
				   text);
		return 0;
	case ARGP_KEY_ARG:
		if (n_ends == 2)
			argp_usage(state);
		link_options.ends[n_ends++] = text;
		return 0;
	case ARGP_KEY_END:
		if (n_ends != 2 || !link_options.control)
			argp_usage(state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "control", 'c', "SOCKET", 0, "Obey orders there", 0 },
		{ "daemonize", 'p', "FILE", 0, "Work in the background; write the process id there",
		  0 },
		{ "delay", 'd', "MS", 0, "Milliseconds that a frame is under way", 0 },
		{ "rate", 'r', "MBIT", 0, "Million bits a second that pass each way", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = options,
					  .parser = parse,
					  .args_doc = "END END",
					  .doc = "Links two networks; an END is tap:NAME or "
						 "dgram:OWN,PEER." };
	/*
	 * On a busy host frames would wait for the relay, not for the link; without root they do.
	 */
	struct sched_param first = { .sched_priority = 10 };
	int fds[2], control;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	for (int i = 0; i < 2; i++)
		fds[i] = open_end(i);
	for (int i = 0; i < 2; i++)
		ways[i] = (struct way){ .from = fds[i], .to = fds[!i], .last = &ways[i].first };
	sched_setscheduler(0, SCHED_FIFO, &first);
	control = open_control(link_options.control);
	if (link_options.pidfile)
		go_to_background();
	carry(control);
}
