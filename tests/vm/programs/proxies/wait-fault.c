/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait-fault DEVICE: a proxy that touches a page of its process's memory that the LWK does not
 * make, because its CPU hangs (inject=hang). Prints "touches PID" before, and "maps" when another of its
 * threads has changed its memory map while it waits.
 *
 * wait-fault hidden DEVICE: one that touches such a page by a system call, because the LWK wants it to be
 * hidden first, again and again. Prints how that ends, and after how many seconds.
 *
 * wait-fault others DEVICE, as root: ends the process, for which the CPU is needed, and freezes the
 * LWK and reads its console meanwhile. Prints whether others learn the instance's state while all
 * of these wait.
 *
 * wait-fault reads DEVICE: is the proxy of more processes, waits for a pipe instead, and prints in which
 * state the LWK is when a signal ends that.
 *
 * wait-fault passes DEVICE: ends while the device's descriptor is in a message that another process throws
 * away, and prints whether that one waits for the LWK.
 *
 * wait-fault leaves DEVICE: becomes another program while a child keeps the device open, and prints
 * whether it gets the signal that is for proxies.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "check.h"
#include "ring.h"

#define START (1UL << 34)
#define SIZE (16UL << 20)

static int device;
static struct lwk_channel *channel;

static int64_t ask(uint64_t nr, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	struct lwk_packet packet = {
		.kind = LWK_PACKET_REQUEST, .id = 5, .nr = nr, .args = { arg0, arg1, arg2 }
	};
	struct lwk_serve serve = { 0 };

	ring_write(&channel->to_lwk, &packet);
	ioctl(device, LWK_DOORBELL);
	if (ioctl(device, LWK_SERVE, &serve) || !ring_read(&channel->to_linux, &packet))
		return 1;
	return packet.args[0];
}

/* ---- waits of others ---- */

static int control, number;

/* A thread that makes one request. */
struct waiter {
	void (*request)(void);
	const char *function; /* of lwkpart.ko, in which it waits */
	pthread_t thread;
	pid_t tid;
	int done;
};

static void *wait_for_lwk(void *argument)
{
	struct waiter *waiter = argument;

	__atomic_store_n(&waiter->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	waiter->request();
	__atomic_store_n(&waiter->done, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static int is_in(pid_t tid, const char *function)
{
	char path[64], text[4096] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stack", tid);
	file = tid ? fopen(path, "r") : NULL;
	if (file) {
		fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	return strstr(text, function) != NULL;
}

/* Returns when the thread waits. */
static int begin(struct waiter *waiter)
{
	CHECK(pthread_create(&waiter->thread, NULL, wait_for_lwk, waiter) == 0);
	while (!is_in(__atomic_load_n(&waiter->tid, __ATOMIC_SEQ_CST), waiter->function))
		CHECK(!__atomic_load_n(&waiter->done, __ATOMIC_SEQ_CST));
	return 0;
}

static void end(void)
{
	ioctl(device, LWK_PROC_END);
}

static void freeze(void)
{
	struct lwk_freeze request = { .frozen = 1, .timeout_ms = 1 };

	ioctl(device, LWK_FREEZE, &request);
}

static void read_console(void)
{
	static char text[100];
	struct lwkpart_kmsg request = { .instance = number,
					.buffer = (uintptr_t)text,
					.capacity = sizeof(text) };

	ioctl(control, LWKPART_KMSG, &request);
}

static int others_learn(const char *path)
{
	struct waiter waiters[] = { { .request = end, .function = "process_end" },
				    { .request = freeze, .function = "freeze_instance" },
				    { .request = read_console, .function = "console_copy" } };
	struct lwkpart_instance_info info;
	struct lwk_instance_status status;
	struct lwk_instance_details details;

	number = atoi(strrchr(path, '/') + 1);
	info.instance = number;
	control = open("/dev/lwkpart", O_RDWR | O_CLOEXEC);
	CHECK(control >= 0);
	for (int i = 0; i < 3; i++)
		CHECK(begin(&waiters[i]) == 0);
	CHECK(ioctl(control, LWKPART_GET_INSTANCE, &info) == 0 && info.state == LWK_STATE_RUNNING);
	CHECK(ioctl(device, LWK_GET_STATUS, &status) == 0 && status.processes == 1);
	CHECK(ioctl(device, LWK_GET_DETAILS, &details) == 0 && details.cpus == info.cpus);
	puts(__atomic_load_n(&waiters[0].done, __ATOMIC_SEQ_CST) ? "others wait, too"
								 : "others learn the state");
	for (int i = 0; i < 3; i++)
		pthread_join(waiters[i].thread, NULL);
	return 0;
}

/* ---- the signal for proxies whose LWK is dead ---- */

static volatile sig_atomic_t got_signal;

static void note(int signal)
{
	got_signal = signal;
}

void return_from_signal(void);
__asm__(".pushsection .text\n"
	"return_from_signal:\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	".popsection\n");

/* libc does not let programs have a handler for it. */
static void expect_signal(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} action = { note, 0x04000000 /* SA_RESTORER */, return_from_signal, 0 };

	syscall(SYS_rt_sigaction, LWK_SIGNAL_GONE, &action, NULL, sizeof(action.mask));
}

/*
 * Becomes the proxy of more processes, whose memory it does not map. Their files are newer than the one
 * that tells that this is still a proxy.
 */
static int begin_more(const char *path, unsigned n)
{
	struct lwk_proc_create create = { .pid = getpid(), .flags = LWK_PROC_SHARE };

	while (n--) {
		int file = open(path, O_RDWR | O_CLOEXEC);

		CHECK(file >= 0);
		CHECK(ioctl(file, LWK_PROC_CREATE, &create) == 0);
	}
	return 0;
}

static int read_pipe(void)
{
	struct lwk_instance_status status;
	int ends[2];
	char byte;

	expect_signal();
	CHECK(pipe(ends) == 0);
	CHECK(read(ends[0], &byte, 1) < 0 && errno == EINTR && got_signal);
	CHECK(ioctl(device, LWK_GET_STATUS, &status) == 0);
	puts(status.state == LWK_STATE_HUNG ? "the read ended, the LWK is hung"
					    : "the read ended too early");
	return 0;
}

/* The child of the test's own process has the device open, and so its LWK process goes on. */
static int leave(void)
{
	if (fork() == 0) {
		alarm(15);
		for (;;)
			pause();
	}
	execl("/proc/self/exe", "wait-fault", "left", NULL);
	return 1;
}

static int stay(void)
{
	struct timespec left = { 9, 0 };

	expect_signal();
	while (nanosleep(&left, &left))
		;
	puts(got_signal ? "the other program is disturbed" : "the other program is left alone");
	return 0;
}

/* ---- a process whose file another one closes ---- */

static int pass_device(int socket)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(device))];
	} control = { .header = { CMSG_LEN(sizeof(device)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec text = { "", 1 };
	struct msghdr message = { .msg_iov = &text,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &device, sizeof(device));
	CHECK(sendmsg(socket, &message, 0) == 1);
	return 0;
}

/* The message that has the proxy's device is in the socket when the proxy has ended. */
static int throw_away(const char *path, int socket, pid_t proxy)
{
	struct lwk_instance_status status;
	struct timespec before, after;
	int end_of_proxy;

	CHECK(waitpid(proxy, &end_of_proxy, 0) == proxy && end_of_proxy == 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	close(socket);
	clock_gettime(CLOCK_MONOTONIC, &after);
	/* A CPU that hangs has five seconds to let its process go. */
	puts(after.tv_sec - before.tv_sec < 3 ? "the close waits for nobody"
					      : "the close waits for the LWK");
	device = open(path, O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	do {
		usleep(1000);
		CHECK(ioctl(device, LWK_GET_STATUS, &status) == 0);
	} while (status.processes);
	puts("the process has ended");
	return 0;
}

static int touch_hidden(void *page)
{
	time_t start = time(NULL);
	int file = open("/dev/zero", O_RDONLY);

	CHECK(file >= 0);
	printf("%s after ", read(file, page, 1) == 1 ? "touched" : "refused");
	printf("%ld s\n", (long)(time(NULL) - start));
	return 0;
}

static int sleeps_in_kernel(pid_t tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	CHECK(file);
	CHECK(fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
	fclose(file);
	return state == 'D';
}

/* Maps memory while the first thread waits for the page. */
static void *map_meanwhile(void *argument)
{
	while (!sleeps_in_kernel(getpid()))
		usleep(1000);
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		puts("maps");
	fflush(stdout);
	return argument;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	struct lwk_proc_create create = {};
	int sockets[2] = { -1, -1 };
	volatile char *window;
	pid_t proxy;

	if (strcmp(argv[argc - 1], "left") == 0)
		return stay();
	if (strcmp(argv[1], "passes") == 0) {
		CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sockets) == 0);
		proxy = fork();
		CHECK(proxy >= 0);
		close(sockets[proxy != 0]);
		if (proxy)
			return throw_away(argv[2], sockets[0], proxy);
	}

	create.pid = getpid();
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
	if (strcmp(argv[1], "hidden") == 0)
		return touch_hidden((void *)START);
	/* A page that it can make, and then none any more. */
	window[0] = 1;
	if (strcmp(argv[1], "reads") == 0)
		CHECK(begin_more(argv[2], 3) == 0);
	CHECK(ask(LWK_CALL_START, START, START + SIZE, 0) == 0);
	if (strcmp(argv[1], "passes") == 0)
		return pass_device(sockets[1]);
	if (strcmp(argv[1], "reads") == 0)
		return read_pipe();
	if (strcmp(argv[1], "leaves") == 0)
		return leave();
	if (argc == 3)
		return others_learn(argv[2]);
	printf("touches %d\n", getpid());
	fflush(stdout);
	CHECK(pthread_create(&thread, NULL, map_meanwhile, NULL) == 0);
	window[SIZE - 1] = 1;
	puts("touched");
	return 0;
}
