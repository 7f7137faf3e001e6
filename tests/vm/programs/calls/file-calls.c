/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes good and bad calls on files and prints for each its result and its effect, and for each
 * signal when it came. The text must be the same on Linux, and whether a server, the module or the
 * proxy carries the calls out. Works in a directory of its own below the current one. With an
 * argument it prints instead who has carried out calls that are made often, and with a second one
 * it sleeps then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"

/* Arguments that the compiler knows to be wrong are what this is for. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"

#define KERNEL_ADDRESS ((void *)0xffffffff81000000)
#define UNMAPPED ((void *)0x10)
#define BIG (3UL << 20)

static char buffer[BIG], other[BIG] __attribute__((aligned(8)));
static volatile sig_atomic_t seen;

static void say(const char *what, long result)
{
	if (result < 0)
		printf("%s: %s", what, strerror(errno));
	else
		printf("%s: %ld", what, result);
	if (seen)
		printf(" and %s", strsignal(seen));
	putchar('\n');
	seen = 0;
}

#define DO(call) (errno = 0, say(#call, (long)(call)))

static void on_signal(int signal)
{
	seen = signal;
}

static void handle(int signal, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void say_file(int fd)
{
	struct stat stat;

	if (fstat(fd, &stat)) {
		say("fstat", -1);
		return;
	}
	printf("  mode %o uid %u gid %u links %lu size %ld blocks %ld at %ld\n", stat.st_mode,
	       stat.st_uid, stat.st_gid, (unsigned long)stat.st_nlink, (long)stat.st_size,
	       (long)stat.st_blocks, (long)lseek(fd, 0, SEEK_CUR));
}

static void opening(void)
{
	char name[PATH_MAX + 2];
	int fd;

	umask(027);
	DO(fd = open("a", O_RDWR | O_CREAT | O_EXCL, 0666));
	say_file(fd);
	DO(open("a", O_RDWR | O_CREAT | O_EXCL, 0666));
	DO(open("nothing", O_RDONLY));
	DO(open("nothing/below", O_RDONLY | O_CREAT, 0600));
	DO(open("a/below", O_RDONLY));
	DO(open("a", O_RDONLY | O_DIRECTORY));
	DO(open(".", O_RDWR));
	DO(open("", O_RDONLY));
	DO(open("/root/secret", O_RDONLY));
	DO(open("/etc/shadow", O_RDONLY));
	DO(open(NULL, O_RDONLY));
	DO(open(UNMAPPED, O_RDONLY));
	DO(open(KERNEL_ADDRESS, O_RDONLY));
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	DO(open(name, O_RDONLY));
	DO(symlink("loop", "loop"));
	DO(open("loop", O_RDONLY));
	DO(open("loop", O_RDONLY | O_NOFOLLOW));
	DO(openat(fd, "b", O_RDONLY));
	DO(openat(999, "b", O_RDONLY));
	DO(openat(AT_FDCWD, "a", O_WRONLY | O_APPEND | O_CLOEXEC));
	DO(close(fd));
	DO(close(fd));
	DO(close(-1));
	DO(close(999));
	DO(open("a", O_RDONLY));
	DO(close(3));
	DO(close(4));
}

static void reading_and_writing(void)
{
	int fd = open("a", O_RDWR | O_TRUNC), ro = open("a", O_RDONLY), wo = open("a", O_WRONLY);
	int append = open("a", O_RDWR | O_APPEND), directory = open(".", O_RDONLY);

	memset(buffer, 'b', sizeof(buffer));
	DO(write(fd, buffer, BIG));
	say_file(fd);
	DO(read(fd, other, 10));
	DO(lseek(fd, -5, SEEK_END));
	DO(read(fd, other, 10));
	DO(read(fd, other, 10));
	DO(pread(fd, other, BIG, BIG / 2));
	DO(pread(fd, other, 10, -1));
	DO(pwrite(fd, "middle", 6, 100));
	say_file(fd);
	DO(pwrite(append, "end", 3, 0));
	DO(write(append, "end", 3));
	say_file(append);
	DO(write(ro, "x", 1));
	DO(read(wo, other, 1));
	DO(pwrite(ro, "x", 1, 0));
	DO(read(directory, other, 10));
	DO(write(directory, other, 10));
	DO(read(directory, other, 0));
	DO(read(fd, other, 0));
	DO(read(999, other, 10));
	DO(read(-1, other, 10));
	DO(write(fd, NULL, 10));
	DO(lseek(fd, 0, SEEK_SET));
	DO(read(fd, NULL, 10));
	DO(read(fd, UNMAPPED, 10));
	DO(read(fd, KERNEL_ADDRESS, 10));
	DO(write(fd, KERNEL_ADDRESS, 10));
	DO(read(fd, other, SIZE_MAX));
	DO(read(fd, other, SSIZE_MAX));
	say_file(fd);
	DO(fstat(fd, NULL));
	DO(fstat(fd, UNMAPPED));
	DO(fstat(999, (void *)other));
	DO(lseek(fd, -1, SEEK_SET));
	DO(lseek(fd, 0, 99));
	DO(lseek(fd, 1000, SEEK_DATA));
	DO(lseek(fd, 0, SEEK_HOLE));
	DO(lseek(999, 0, SEEK_SET));
	DO(lseek(fd, LONG_MAX, SEEK_SET));
	DO(lseek(fd, 1L << 40, SEEK_SET));
	DO(read(fd, other, 10));
	printf("%d\n", memcmp(buffer, other, 1));
	DO(close(fd));
	DO(close(ro));
	DO(close(wo));
	DO(close(append));
	DO(close(directory));
}

static void vectors(void)
{
	struct iovec two[2] = { { buffer, 5 }, { buffer + 100, 7 } };
	struct iovec bad[2] = { { other, 5 }, { UNMAPPED, 7 } };
	struct iovec huge[2] = { { other, SSIZE_MAX }, { other, SSIZE_MAX } };
	int fd = open("v", O_RDWR | O_CREAT, 0600);

	memcpy(buffer, "first", 5);
	memcpy(buffer + 100, "seconds", 7);
	DO(writev(fd, two, 2));
	DO(lseek(fd, 0, SEEK_SET));
	DO(readv(fd, bad, 2));
	DO(lseek(fd, 0, SEEK_SET));
	two[0].iov_base = other;
	two[1].iov_base = other + 50;
	DO(readv(fd, two, 2));
	printf("%.5s %.7s\n", other, other + 50);
	DO(readv(fd, two, 2));
	DO(readv(fd, two, 0));
	DO(readv(fd, two, -1));
	DO(readv(fd, two, IOV_MAX + 1));
	DO(readv(fd, UNMAPPED, 2));
	DO(writev(fd, KERNEL_ADDRESS, 2));
	DO(readv(fd, huge, 2));
	DO(writev(999, two, 2));
	say_file(fd);
	DO(close(fd));
}

static void limits(void)
{
	struct rlimit size = { 1000000, 1000000 }, files = { 8, 8 };
	int fd = open("l", O_RDWR | O_CREAT, 0600), full = open("/dev/full", O_WRONLY);

	DO(write(full, "x", 1));
	DO(close(full));
	handle(SIGXFSZ, 0);
	DO(setrlimit(RLIMIT_FSIZE, &size));
	DO(write(fd, buffer, 900000));
	DO(write(fd, buffer, 900000));
	DO(write(fd, buffer, 900000));
	DO(pwrite(fd, buffer, 10, 999995));
	DO(pwrite(fd, buffer, 10, 5000000));
	signal(SIGXFSZ, SIG_IGN);
	DO(write(fd, buffer, 900000));
	say_file(fd);
	DO(setrlimit(RLIMIT_NOFILE, &files));
	for (int i = 0; i < 6; i++)
		DO(open("l", O_RDONLY));
	for (int i = 3; i < 8; i++)
		close(i);
}

static void pipes(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 100000 } };
	int ends[2];

	DO(pipe(ends));
	DO(write(ends[1], "abc", 3));
	DO(read(ends[0], other, 10));
	DO(lseek(ends[0], 0, SEEK_SET));
	DO(pread(ends[0], other, 1, 0));
	/* Interrupted: EINTR without SA_RESTART; with it the alarm that comes next. */
	handle(SIGALRM, 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	DO(read(ends[0], other, 10));
	DO(fcntl(ends[0], F_SETFL, O_NONBLOCK));
	DO(read(ends[0], other, 10));
	/* The last close of an end is known to the other before the call returns. */
	DO(close(ends[1]));
	DO(read(ends[0], other, 10));
	DO(close(ends[0]));
	DO(pipe(ends));
	DO(close(ends[0]));
	handle(SIGPIPE, 0);
	DO(write(ends[1], "abc", 3));
	signal(SIGPIPE, SIG_IGN);
	DO(write(ends[1], "abc", 3));
	DO(close(ends[1]));
}

/* Closes all but the first three, and tries it again without any. */
static void closing_all(void)
{
	char target[PATH_MAX];
	int fd = open("a", O_RDONLY), closed = 0;

	DO(syscall(__NR_close_range, fd, ~0U, 0));
	DO(close(fd));
	DO(syscall(__NR_close_range, fd, ~0U, 0));
	DO(syscall(__NR_close_range, 5, 4, 0));
	for (int i = 3; i < 2000; i++)
		closed += close(i) == 0;
	DO(closed);
	DO(readlink("/proc/self/exe", target, sizeof(target)));
	DO(open("a", O_RDONLY));
	DO(close(fd));
}

static void locks(void)
{
	int one = open("a", O_RDONLY), two = open("a", O_RDONLY);

	DO(flock(one, LOCK_EX));
	DO(flock(two, LOCK_EX | LOCK_NB));
	DO(close(one));
	DO(flock(two, LOCK_EX | LOCK_NB));
	DO(close(two));
}

/* Adds the results and the bytes of a call that is made many times. */
static uint64_t mixed(uint64_t sum, long result, const char *bytes)
{
	sum = sum * 31 + (uint64_t)(result < 0 ? -errno : result);
	for (long i = 0; i < result; i++)
		sum = sum * 31 + (unsigned char)bytes[i];
	return sum;
}

static bool counts; /* who makes the calls, instead of their results */

/* A count of /proc/self/lwk. */
static long lwk_count(const char *name)
{
	FILE *file = fopen("/proc/self/lwk", "r");
	char line[80];
	long value = -1;
	size_t length = strlen(name);

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, length) == 0 && line[length] == ' ')
			value = atol(line + length);
	if (file)
		fclose(file);
	return value;
}

static void say_repeated(const char *what, uint64_t sum, long by_server)
{
	if (counts) {
		printf("%s: %ld by a server\n", what, by_server);
		return;
	}
	printf("%s: %llx", what, (unsigned long long)sum);
	say("", 0);
}

/* Each call is made so often in a row that a server makes it. */
#define OFTEN 100
#define REPEAT(what, bytes, call)                                                                  \
	do {                                                                                       \
		long before = counts ? lwk_count("server_calls") : 0;                              \
		uint64_t sum = 0;                                                                  \
		for (int turn = 0; turn < OFTEN; turn++) {                                         \
			errno = 0;                                                                 \
			sum = mixed(sum, (long)(call), bytes);                                     \
		}                                                                                  \
		say_repeated(what, sum, counts ? lwk_count("server_calls") - before : 0);          \
	} while (0)

static void repeated_on(int fd, int same, int append)
{
	char *page =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *copied = page + 4096, *fixed = page + 2 * 4096;

	memset(page, 'p', 3 * 4096);
	/* A server writes to pages that are there; a short read makes none behind its end. */
	memset(other, 'o', sizeof(other));
	mprotect(fixed, 4096, PROT_READ);
	REPEAT("read", other, read(fd, other, 1));
	say_file(fd);
	REPEAT("read two bytes", other, read(turn % 2 ? fd : same, other, 2));
	say_file(same);
	REPEAT("read over the end of a page", page + 4090, read(fd, page + 4090, 10));
	REPEAT("read into memory that is read-only in part", page, read(fd, fixed - 5, 10));
	REPEAT("pread", other, pread(fd, other, 7, 40L * turn));
	REPEAT("pread over the end of the file", other, pread(fd, other, 100, 12000 + 10L * turn));
	REPEAT("pread of a lot", other, pread(fd, other, 200000, turn));
	REPEAT("read of nothing", other, read(fd, other, 0));
	REPEAT("pwrite", buffer, pwrite(fd, page, 9, 50L * turn));
	REPEAT("pwrite to a file that grows", buffer, pwrite(append, "x", 1, 0));
	REPEAT("write", buffer, write(fd, fixed, 3));
	say_file(append);
	lseek(fd, 0, SEEK_SET);
	/* The child's read gets a copy of the page, and the parent keeps its own. */
	fflush(stdout);
	if (fork() == 0) {
		REPEAT("read into a page to be copied", copied, read(fd, copied, 3));
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	printf("parent: %.3s\n", copied);
	say_file(fd);
	munmap(page, 3 * 4096);
}

static void repeated_vectors(int fd)
{
	struct iovec into[] = { { other, 3 }, { UNMAPPED, 0 }, { other + 3, 7 } };
	struct iovec bad[] = { { other, 3 }, { UNMAPPED, 7 } };
	struct iovec many[40];

	for (int i = 0; i < 40; i++)
		many[i] = (struct iovec){ other + i, 1 };
	lseek(fd, 0, SEEK_SET);
	REPEAT("readv", other, readv(fd, into, 3));
	REPEAT("readv of single bytes", other, readv(fd, many, 32));
	REPEAT("readv of many", other, readv(fd, many, 40));
	REPEAT("readv of no memory", other, readv(fd, bad, 2));
	REPEAT("readv of nothing", other, readv(fd, into + 1, 1));
	REPEAT("preadv", other, preadv(fd, into, 3, 11L * turn));
	REPEAT("preadv before the start", other, preadv(fd, into, 3, -7));
	REPEAT("preadv2", other, preadv2(fd, into, 3, turn % 2 ? -1 : 70, 0));
	REPEAT("pwritev", buffer, pwritev(fd, into, 3, 7L * turn));
	REPEAT("lseek", other, lseek(fd, 100L * turn, SEEK_SET));
	REPEAT("lseek back", other, lseek(fd, -1, SEEK_CUR));
	REPEAT("lseek at the end", other, lseek(fd, -turn, SEEK_END));
	REPEAT("lseek before the start", other, lseek(fd, -turn - 1, SEEK_SET));
	REPEAT("lseek in the wrong way", other, lseek(fd, 0, 77));
}

/* The answer of poll(2) about the files, as one number. */
static long polled(struct pollfd *files, unsigned n, int timeout)
{
	long result = poll(files, n, timeout);

	for (unsigned i = 0; result >= 0 && i < n; i++)
		result += files[i].revents * (i + 1);
	return result;
}

/* Linux writes the event to a page that does not exist yet. */
static int wait_with_new_page(int set)
{
	struct epoll_event *event =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ready = epoll_wait(set, event, 1, 0);

	munmap(event, 4096);
	return ready;
}

static void repeated_polls(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ends[2], set = epoll_create1(0), number = eventfd(0, 0);
	struct pollfd path = { open("/dev/zero", O_PATH), POLLIN, 0 };
	uint64_t one = 1, two = 2, most = UINT64_MAX - 1;

	DO(pipe(ends));
	DO(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
	for (int full = 0; full < 2; full++) {
		struct pollfd files[] = { { ends[0], POLLIN, 0 },
					  { -1, POLLIN, 9 },
					  { ends[1], POLLIN | POLLOUT, 0 },
					  { fd, POLLIN | POLLPRI, 0 },
					  { number, POLLIN, 0 } };

		REPEAT("poll", other, polled(files, 5, 0));
		REPEAT("poll a pipe", other, polled(files, 1, 0));
		REPEAT("poll what is ready", other, polled(files, 4, -1));
		files[1].fd = 1 << 20;
		REPEAT("poll no file", other, polled(files, 3, 0));
		REPEAT("epoll_wait", other, epoll_wait(set, &event, 1, 0));
		REPEAT("epoll_wait with a new page", other, wait_with_new_page(set));
		REPEAT("epoll_wait without room", other, epoll_wait(set, &event, 0, 0));
		REPEAT("epoll_wait on a pipe", other, epoll_wait(ends[0], &event, 1, 0));
		DO(write(ends[1], "x", 1));
	}
	REPEAT("poll a path", other, polled(&path, 1, 0));
	REPEAT("read a path", other, read(path.fd, other, 1));
	close(path.fd);
	REPEAT("poll nowhere", other, poll(UNMAPPED, 1, 0));
	REPEAT("epoll_wait to nowhere", other, epoll_wait(set, KERNEL_ADDRESS, 1, 0));
	REPEAT("eventfd", other,
	       turn % 2 ? read(number, other, 8) : write(number, &one, sizeof(one)));
	REPEAT("write an eventfd", buffer, write(number, &one, sizeof(one)));
	REPEAT("write two to an eventfd", buffer, write(number, &two, sizeof(two)));
	REPEAT("write less to an eventfd", buffer, write(number, &one, 7));
	DO(fcntl(number, F_SETFL, O_NONBLOCK));
	DO(read(number, other, 8));
	printf("  count %llu\n", (unsigned long long)*(uint64_t *)other);
	DO(write(number, &most, sizeof(most)));
	REPEAT("write to a full eventfd", buffer, write(number, &one, sizeof(one)));
	DO(read(number, other, 8));
	printf("  count %llu\n", (unsigned long long)*(uint64_t *)other);
	close(set);
	close(number);
	close(ends[0]);
	close(ends[1]);
}

/* Returns an Internet socket that is connected to itself; -1 on failure. */
static int to_itself(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int socket_fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (bind(socket_fd, (struct sockaddr *)&address, size) ||
	    getsockname(socket_fd, (struct sockaddr *)&address, &size) ||
	    connect(socket_fd, (struct sockaddr *)&address, size))
		return -1;
	return socket_fd;
}

/* Makes the two ends of a connection. */
static int connect_two(int ends[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size) ||
	    connect(ends[0], (struct sockaddr *)&address, size))
		return -1;
	ends[1] = accept(listener, NULL, NULL);
	return close(listener);
}

static void repeated_on_sockets(int ends[2])
{
	REPEAT("send and recv", other,
	       turn % 2 ? recv(ends[0], other, 9, 0) : send(ends[1], buffer + turn, 5, 0));
	REPEAT("recv of nothing", other, recv(ends[0], other, 9, MSG_DONTWAIT));
	REPEAT("send without waiting", other,
	       turn % 2 ? recv(ends[0], other, 3, 0)
			: send(ends[1], buffer + turn, 3, MSG_DONTWAIT | MSG_NOSIGNAL));
	REPEAT("recv into no memory", other, recv(ends[0], UNMAPPED, 9, MSG_DONTWAIT));
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	REPEAT("read of nothing from a socket", other, read(ends[0], other, 9));
	REPEAT("write and read a socket", other,
	       turn % 2 ? recv(ends[0], other, 5, MSG_WAITALL) : write(ends[1], buffer + turn, 5));
	REPEAT("pread of a socket", other, pread(ends[0], other, 5, 0));
	REPEAT("lseek of a socket", other, lseek(ends[0], 5, SEEK_SET));
}

static void repeated_sockets(void)
{
	int ends[2], own = to_itself();

	handle(SIGPIPE, 0);
	DO(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	repeated_on_sockets(ends);
	close(ends[1]);
	REPEAT("recv at the end", other, recv(ends[0], other, 9, 0));
	REPEAT("send to nobody", buffer, send(ends[0], buffer, 9, 0));
	close(ends[0]);
	DO(connect_two(ends));
	repeated_on_sockets(ends);
	close(ends[1]);
	close(ends[0]);
	repeated_on_sockets((int[]){ own, own });
	close(own);
}

static void repeated(void)
{
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_RDWR), ends[2];
	int fd = open("r", O_RDWR | O_CREAT, 0600), append = open("r", O_RDWR | O_APPEND);

	for (size_t i = 0; i < 12345; i++)
		buffer[i] = (char)(i * i >> 3);
	DO(write(fd, buffer, 12345));
	DO(lseek(fd, 0, SEEK_SET));
	repeated_on(fd, dup(fd), append);
	repeated_vectors(fd);
	repeated_polls(fd);
	repeated_sockets();
	REPEAT("zero", other, read(zero, other, 1 + 1000 * (turn % 7)));
	REPEAT("write zero", other, write(zero, other, 1));
	REPEAT("null", other, read(null, other, 10));
	REPEAT("read a file and write to none by turns", other,
	       turn % 2 ? write(-1, buffer, 1) : pread(fd, other, 1, turn));
	/* On a disk with relatime, the read sets the time of access. */
	REPEAT("read after each write", other, pwrite(fd, buffer, 1, 0) + pread(fd, other, 1, 0));
	REPEAT("write null", buffer, write(null, buffer, 1 + 1000 * (turn % 7)));
	REPEAT("write null from nowhere", buffer, write(null, UNMAPPED, 1));
	REPEAT("pwrite null", buffer, pwrite(null, buffer, 3, turn));
	REPEAT("bad descriptor", other, read(1 << 20, other, 1));
	DO(pipe(ends));
	REPEAT("pipe", other,
	       turn % 2 ? read(ends[0], other, 5) : write(ends[1], buffer + turn, 5));
	REPEAT("write pipe", buffer, write(ends[1], buffer, turn % 25 == 0 ? 4096 : 1));
	REPEAT("read pipe", other, read(ends[0], other, 150));
	REPEAT("pread pipe", other, pread(ends[0], other, 1, 0));
	handle(SIGPIPE, 0);
	close(ends[0]);
	REPEAT("broken pipe", buffer, write(ends[1], buffer, 1));
	syscall(__NR_close_range, 3, ~0U, 0);
}

/* Prints how many of the calls a server has made. */
static void count(void)
{
	counts = true;
	repeated();
	printf("server_calls %ld\n", lwk_count("server_calls"));
}

int main(int argc, char **argv __attribute__((unused)))
{
	char directory[] = "file-calls.XXXXXX";

	if (!mkdtemp(directory) || chdir(directory)) {
		perror(directory);
		return 1;
	}
	if (argc > 1) {
		count();
		if (unlink("r") || chdir("..") || rmdir(directory) || fflush(stdout))
			return 1;
		return argc > 2 && sleep(600);
	}
	repeated();
	opening();
	reading_and_writing();
	vectors();
	closing_all();
	locks();
	pipes();
	limits();
	for (const char *const *name = (const char *const[]){ "a", "v", "l", "loop", "r", NULL };
	     *name; name++)
		unlink(*name);
	DO(chdir(".."));
	DO(rmdir(directory));
	return 0;
}
