/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-devices SEED SECONDS DEVICE...: two processes of two threads each, and one without threads,
 * make random requests of the devices, map them, scribble over their channels, and send the LWK
 * random packets. The machine must go on, and so must LWKs of others. In a process without threads
 * Linux takes no reference to a file for a system call on it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "fuzz.h"

#define PROCESSES 3
#define THREADS 2
#define FILES 6
#define MAPPINGS 8

static uint64_t seed;
static time_t end;
static char **devices;
static int n_devices, noise, ends[2];

/* The image of the LWK, which random bytes never are. */
static struct {
	void *start;
	uint64_t size;
} image;

/* Shared by the threads of a process. */
static int files[FILES];
static struct {
	void *start;
	size_t size;
} mappings[MAPPINGS];
static uint64_t calls;
static int by_server; /* a server has made a call */

static const unsigned long requests[] = {
	LWKPART_GET_INFO,     LWKPART_LEND_CPU,	  LWKPART_RETURN_CPU,
	LWKPART_LEND_MEM,     LWKPART_RETURN_MEM, LWKPART_CREATE,
	LWKPART_DESTROY,      LWKPART_ASSIGN_CPU, LWKPART_ASSIGN_MEM,
	LWKPART_LOAD,	      LWKPART_BOOT,	  LWKPART_SHUTDOWN,
	LWKPART_GET_INSTANCE, LWKPART_GET_LEDGER, LWKPART_KMSG,
	LWKPART_HANG_LIMIT,   LWKPART_SCAN,	  LWKPART_DUMP_LAYOUT,
	LWKPART_DUMP,	      LWKPART_CONFINE,	  LWKPART_MOVE,
	LWK_GET_STATUS,	      LWK_PROC_CREATE,	  LWK_SERVE,
	LWK_DOORBELL,	      LWK_UNMAP,	  LWK_GET_DETAILS,
	LWK_GET_USAGE,	      LWK_KMSG,		  LWK_EVENTFD,
	LWK_FREEZE,	      LWK_THREAD_CREATE,  LWK_PROC_END,
	LWK_COUNTERS,	      LWK_GRANT,
};

/* ---- files ---- */

static int *random_file(void)
{
	return &files[fuzz_below(FILES)];
}

static void reopen(void)
{
	int *file = random_file(), old = *file;

	*file = open(devices[fuzz_below(n_devices)], fuzz_below(8) ? O_RDWR : O_RDONLY);
	if (old > 0)
		close(old);
}

/* ---- requests ---- */

static unsigned long random_request(void)
{
	unsigned long request = requests[fuzz_below(sizeof(requests) / sizeof(*requests))];

	if (fuzz_below(20))
		return request;
	return _IOC(fuzz_below(4), fuzz_below(2) ? LWKPART_IOC : LWK_IOC, fuzz_below(32),
		    fuzz_below(512));
}

static void ask(void)
{
	unsigned long request = random_request();
	bool waits = request == LWK_FREEZE || request == LWKPART_BOOT;
	uint64_t argument = fuzz_pointer();
	uint32_t words[1200];
	size_t size = _IOC_SIZE(request) < sizeof(words) ? _IOC_SIZE(request) : sizeof(words);

	for (unsigned i = 0; i < size / sizeof(*words); i += 2) {
		uint64_t word = fuzz_below(3) ? fuzz_below(4) : fuzz_word();

		memcpy(&words[i], &word, sizeof(word));
	}
	/* Instances, CPUs, nodes: small numbers exist. */
	words[0] = fuzz_below(8) ? fuzz_below(6) : fuzz_random();
	if (fuzz_below(4) == 0)
		words[fuzz_below(4)] = getpid();
	/* A wait of a minute finds nothing. */
	if (waits)
		words[1] = fuzz_below(300);
	if (request == LWKPART_LOAD && image.start && fuzz_below(4)) {
		words[1] = 0;
		memcpy(&words[2], &image, sizeof(image));
	}
	if (argument >= (uint64_t)fuzz_arena &&
	    argument < (uint64_t)fuzz_arena + FUZZ_BYTES - size) {
		/* A system call writes there, because another thread may just unmap the memory. */
		if (pwrite(noise, words, size, FUZZ_BYTES) == (ssize_t)size)
			pread(noise, (void *)argument, size, FUZZ_BYTES);
	} else if (waits) {
		return;
	}
	ioctl(*random_file(), request, argument);
}

/* ---- mappings ---- */

static void map(void)
{
	static const uint64_t kinds[] = { LWK_MMAP_STATUS, LWK_MMAP_CHANNEL, LWK_MMAP_WINDOW };
	int at = fuzz_below(MAPPINGS), flags = fuzz_below(8) ? MAP_SHARED : MAP_PRIVATE;
	uint64_t offset = kinds[fuzz_below(3)], address = 0;
	size_t size = 4096 << fuzz_below(12);
	void *got;

	if (offset == LWK_MMAP_WINDOW && fuzz_below(8)) {
		address = 0x100000000UL + fuzz_below(64) * 4096;
		offset += address - LWK_USER_START;
		flags |= MAP_FIXED;
	} else if (fuzz_below(4) == 0) {
		offset += fuzz_below(16) * 4096;
	} else if (offset == LWK_MMAP_CHANNEL) {
		size = sizeof(struct lwk_channel);
	}
	got = mmap((void *)address, size, fuzz_below(8) ? PROT_READ | PROT_WRITE : fuzz_below(8),
		   flags, *random_file(), offset);
	if (got == MAP_FAILED)
		return;
	mappings[at].start = got;
	mappings[at].size = size;
}

static void change_mapping(void)
{
	int at = fuzz_below(MAPPINGS);
	uint8_t *start = mappings[at].start;
	size_t size = mappings[at].size, part = size ? fuzz_below(size / 4096 + 1) * 4096 : 0;

	if (!start)
		return;
	switch (fuzz_below(6)) {
	case 0:
		munmap(start + part, size - part);
		break;
	case 1:
		mremap(start, size, size * 2, MREMAP_MAYMOVE);
		break;
	case 2:
		mremap(start, size, part, 0);
		break;
	case 3:
		mprotect(start, size, fuzz_below(8));
		break;
	case 4:
		madvise(start, size, fuzz_below(26));
		break;
	case 5:
		mlock(start, part);
		break;
	}
}

/* Touches memory by system calls, so that a fault is an error and no signal. */
static void touch(void)
{
	int at = fuzz_below(MAPPINGS);
	uint8_t *start = mappings[at].start;
	char drain[64];
	size_t offset;

	if (!start)
		return;
	offset = fuzz_below(mappings[at].size);
	if (fuzz_below(2))
		pread(noise, start + offset, 1 + fuzz_below(64), fuzz_below(FUZZ_BYTES));
	else if (write(ends[1], start + offset, 1 + fuzz_below(64)) > 0)
		read(ends[0], drain, sizeof(drain));
}

/*
 * System calls read and write the channel here and below, because it may be taken away at any time.
 */
static bool read_count(const struct lwk_ring *ring, uint32_t *count)
{
	return write(ends[1], &ring->count, sizeof(*count)) == sizeof(*count) &&
	       read(ends[0], count, sizeof(*count)) == sizeof(*count);
}

/* Puts requests for the LWK into a channel, such as those of a program that is being loaded. */
static void send(void)
{
	int at = fuzz_below(MAPPINGS);
	struct lwk_channel *channel = mappings[at].start;
	struct lwk_packet packet = { .kind = fuzz_below(20) ? LWK_PACKET_REQUEST : fuzz_below(5),
				     .id = fuzz_below(4),
				     .nr = LWK_CALL_BASE + fuzz_below(26) };
	uint32_t count = fuzz_random(), n = 0;
	uint64_t place = FUZZ_BYTES + 8192 + fuzz_below(64) * 64;

	if (!channel || mappings[at].size != sizeof(*channel))
		return;
	for (int i = 0; i < 6; i++)
		packet.args[i] =
			fuzz_below(3) ? fuzz_word() : 0x100000000UL + fuzz_below(64) * 4096;
	if (fuzz_below(64))
		read_count(&channel->to_lwk, &count);
	do {
		packet.turn = count + ++n;
		if (pwrite(noise, &packet, sizeof(packet), place) == sizeof(packet))
			pread(noise, &channel->to_lwk.slot[(count + n - 1) % LWK_RING_SLOTS],
			      sizeof(packet), place);
	} while (n < LWK_RING_SLOTS && fuzz_below(8));
	count += n;
	pwrite(noise, &count, sizeof(count), place);
	pread(noise, &channel->to_lwk.count, sizeof(count), place);
	ioctl(*random_file(), LWK_DOORBELL);
}

/*
 * Serves a process that this one has made. Its channel has forged requests for calls that lwkpart.ko
 * makes, most of them by its servers. A server must trust no address or length in them.
 */
static void serve(void)
{
	static const int numbers[] = { SYS_read,    SYS_pread64, SYS_readv,  SYS_preadv,
				       SYS_preadv2, SYS_write,	 SYS_writev, SYS_pwrite64,
				       SYS_lseek,   SYS_poll,	 SYS_close };
	int file = *random_file();
	struct lwk_proc_create create = { .pid = getpid() };
	struct lwk_serve request = {
		.flags = LWK_SERVE_CALLS | (fuzz_below(8) ? LWK_SERVE_BY_SERVER : 0),
		.keep_from = fuzz_below(4) ? 1 : ~0U,
	};
	struct lwk_channel *channel;
	uint32_t count, n = 1 + fuzz_below(LWK_RING_SLOTS);
	bool stays;

	ioctl(file, LWK_PROC_CREATE, &create);
	channel = mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE, MAP_SHARED, file,
		       LWK_MMAP_CHANNEL);
	if (channel == MAP_FAILED)
		return;
	for (uint32_t i = 0; read_count(&channel->to_linux, &count) && i < n; i++) {
		struct lwk_packet packet = {
			.kind = LWK_PACKET_REQUEST,
			.turn = count + i + 1,
			.id = i,
			.nr = numbers[fuzz_below(sizeof(numbers) / sizeof(*numbers))],
			.args = { fuzz_below(16) ? 0 : fuzz_word(),
				  fuzz_below(8) ? 0x100000000UL + fuzz_below(64 * 4096)
						: fuzz_word(),
				  fuzz_below(8) ? fuzz_below(8192) : fuzz_word(), fuzz_below(3),
				  fuzz_word() },
		};
		uint64_t place = FUZZ_BYTES + 16384 + fuzz_below(64) * 64;

		/* The fuzzer closes no file that it needs itself. */
		if (packet.nr == SYS_close)
			packet.args[0] = *random_file();
		if (pwrite(noise, &packet, sizeof(packet), place) == sizeof(packet))
			pread(noise, &channel->to_linux.slot[(count + i) % LWK_RING_SLOTS],
			      sizeof(packet), place);
	}
	/* A mapping refers to the file. */
	stays = fuzz_below(4);
	if (!stays)
		munmap(channel, sizeof(*channel));
	ioctl(file, LWK_SERVE, &request);
	if (request.by_server)
		__atomic_store_n(&by_server, 1, __ATOMIC_RELAXED);
	if (stays)
		munmap(channel, sizeof(*channel));
}

static void look(void)
{
	struct pollfd poller = { .fd = *random_file(), .events = POLLIN | POLLOUT };
	char text[64];

	poll(&poller, 1, 1);
	read(poller.fd, text, sizeof(text));
	lseek(poller.fd, fuzz_word(), fuzz_below(5));
}

static void fork_once(void)
{
	pid_t child = fork();

	if (child == 0) {
		for (unsigned i = 0; i < 20; i++)
			ask();
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* ---- threads ---- */

static void *work(void *number)
{
	fuzz_seed(seed + (uintptr_t)number);
	while (time(NULL) < end) {
		switch (fuzz_below(32)) {
		case 0:
			reopen();
			break;
		case 1 ... 3:
			map();
			break;
		case 4:
			change_mapping();
			break;
		case 5 ... 9:
			touch();
			break;
		case 10 ... 14:
			send();
			break;
		case 15:
			look();
			break;
		case 17 ... 19:
			serve();
			break;
		case 16:
			if (fuzz_below(50) == 0)
				fork_once();
			break;
		default:
			ask();
		}
		__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void on_signal(int signal)
{
	(void)signal;
}

static void map_image(void)
{
	int fd = open("/usr/lib/slurm-lwk/lwk.elf", O_RDONLY);

	if (fd < 0)
		return;
	image.size = lseek(fd, 0, SEEK_END);
	image.start = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image.start == MAP_FAILED)
		image.start = NULL;
	close(fd);
}

/* Threads, whose requests that wait are interrupted. */
static void run_threads(void)
{
	struct timespec tick = { 0, 20000000 };
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	while (time(NULL) < end) {
		nanosleep(&tick, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_kill(threads[i], SIGUSR1);
	}
}

static void run_alone(void)
{
	const struct itimerval tick = { { 0, 20000 }, { 0, 20000 } };

	setitimer(ITIMER_REAL, &tick, NULL);
	work((void *)1);
}

static void run(bool with_threads)
{
	struct sigaction action = { .sa_handler = on_signal };
	uint8_t page[4096];

	if (fuzz_make_arena() || pipe(ends))
		_exit(2);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	noise = memfd_create("noise", 0);
	dup2(noise, 0); /* what forged requests read and write */
	fuzz_seed(seed);
	for (unsigned i = 0; i < FUZZ_PAGES; i++) {
		for (unsigned j = 0; j < sizeof(page); j++)
			page[j] = fuzz_below(4) ? 0 : fuzz_random();
		pwrite(noise, page, sizeof(page), i * sizeof(page));
	}
	for (int i = 0; i < FILES; i++)
		files[i] = open(devices[i % n_devices], O_RDWR);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	if (with_threads)
		run_threads();
	else
		run_alone();
	printf("%lu calls%s\n", (unsigned long)calls, by_server ? ", some by a server" : "");
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	seed = strtoul(argv[1], NULL, 0);
	end = time(NULL) + strtoul(argv[2], NULL, 0);
	devices = argv + 3;
	n_devices = argc - 3;
	map_image();
	for (int i = 0; i < PROCESSES; i++) {
		seed += 16;
		if (fork() == 0)
			run(i > 0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
