/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instance's device, and packets to and from the LWK (lwkshared.h). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

/* How long a CPU may be busy with the end of its former process. */
#define BUSY_RETRIES 20
#define BUSY_SLEEP_MS 50
#define FORK_RETRIES 4
#define CONSOLE_LINES 10
/* Set by the SPANK plugin: wait for a free CPU, for as long as it takes. */
#define ENV_WAIT "LWK_WAIT"
/* "proxy": lwkpart.ko shall leave all calls to us; for comparisons. */
#define ENV_CALLS "LWK_CALLS"

struct session session = { .device = -1 };
__thread struct own own = { .child_waits = -1 };
static __thread uint32_t next_id;
static bool closed;
/* Slots of our process: those of its threads, which it keeps when they end. */
static bool ours[LWK_MAX_SLOTS];
/* Descriptors that the program must not close, each plus 1; 0: none. */
#define MAX_KEPT 32
static uint32_t kept[MAX_KEPT];
/* Of LWK_SERVE: with LWK_SERVE_CALLS the module does what it can do itself. */
static uint32_t serve_flags = LWK_SERVE_CALLS;
static __thread struct lwk_serve serve;

static const char *const states[] = {
	[LWK_STATE_CREATED] = "not booted", [LWK_STATE_ASSIGNED] = "not booted",
	[LWK_STATE_LOADED] = "not booted",  [LWK_STATE_BOOTING] = "booting",
	[LWK_STATE_RUNNING] = "running",    [LWK_STATE_FREEZING] = "being frozen",
	[LWK_STATE_FROZEN] = "frozen",	    [LWK_STATE_SHUTDOWN] = "shut down",
	[LWK_STATE_PANIC] = "in panic",	    [LWK_STATE_HUNG] = "hung",
};

/* The last of what the LWK said, for whoever reads the job's output. */
static void print_console_tail(void)
{
	char text[64 * 1024];
	struct lwkpart_kmsg kmsg = { .buffer = (uintptr_t)text, .capacity = sizeof(text) - 1 };
	const char *from = text;
	unsigned lines = 0;

	if (ioctl(session.device, LWK_KMSG, &kmsg) || !kmsg.length || kmsg.length >= sizeof(text))
		return;
	text[kmsg.length] = '\0';
	for (const char *at = text + kmsg.length - 1; at > text && lines < CONSOLE_LINES; at--) {
		if (at[-1] != '\n')
			continue;
		from = at;
		lines++;
	}
	fprintf(stderr, "lwkexec: the LWK's console ends with:\n%s%s", from,
		text[kmsg.length - 1] == '\n' ? "" : "\n");
}

static void instance_gone(void) __attribute__((noreturn));
static void instance_gone(void)
{
	static bool told;
	struct lwk_instance_status status = { 0 };

	/* One thread tells it, and all of us end. */
	if (session_closed() || __atomic_exchange_n(&told, true, __ATOMIC_ACQ_REL))
		for (;;)
			pause();
	if (ioctl(session.device, LWK_GET_STATUS, &status))
		fail(EXIT_LWK, "the LWK does not answer: %s", strerror(errno));
	if (status.state == LWK_STATE_PANIC || status.state == LWK_STATE_HUNG)
		print_console_tail();
	status.message[sizeof(status.message) - 1] = '\0';
	fail(EXIT_LWK, "the LWK is %s%s%s; tell your administrator if that was not to be expected",
	     status.state < LWK_STATE_COUNT ? states[status.state] : "in an unknown state",
	     status.message[0] ? ": " : "", status.message);
}

int channel_keep(int fd)
{
	struct rlimit limit;
	int from = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024
			   ? (int)limit.rlim_cur - 8
			   : 1000;
	int high = fcntl(fd, F_DUPFD_CLOEXEC, from);

	if (high >= 0) {
		close(fd);
		fd = high;
	}
	for (unsigned i = 0; fd >= 0 && i < MAX_KEPT; i++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&kept[i], &none, fd + 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return fd;
	}
	if (fd >= 0)
		close(fd);
	errno = EMFILE;
	return -1;
}

void channel_drop(int fd)
{
	for (unsigned i = 0; i < MAX_KEPT; i++)
		if (__atomic_load_n(&kept[i], __ATOMIC_RELAXED) == (uint32_t)fd + 1)
			__atomic_store_n(&kept[i], 0, __ATOMIC_RELEASE);
	close(fd);
}

bool channel_owns(int fd)
{
	return fd >= 0 && channel_next_owned(fd) == (uint32_t)fd;
}

uint32_t channel_next_owned(uint32_t fd)
{
	uint32_t next = UINT32_MAX;

	for (unsigned i = 0; i < MAX_KEPT; i++) {
		uint32_t one = __atomic_load_n(&kept[i], __ATOMIC_RELAXED);

		if (one && one - 1 >= fd && one - 1 < next)
			next = one - 1;
	}
	return next;
}

/*
 * LWK_PROC_CREATE, again so many times as long as no CPU can be had. Who starts a program by hand is told
 * that he waits. 0 or a negative errno.
 */
static int create_process(uint32_t flags, unsigned retries, bool by_hand)
{
	struct lwk_proc_create create = { .index = own.index, .pid = getpid(), .flags = flags };
	struct timespec pause = { 0, BUSY_SLEEP_MS * 1000000L };
	bool told = !by_hand;

	while (ioctl(session.device, LWK_PROC_CREATE, &create)) {
		if (errno != EBUSY && (errno != EAGAIN || !retries--))
			return -errno;
		if (errno == EBUSY && !told) {
			fprintf(stderr,
				"lwkexec: the LWK is frozen; waiting until it goes on (lwkctl thaw)\n");
			told = true;
		}
		nanosleep(&pause, NULL);
	}
	session.index = own.index = create.index;
	own.cpu = create.cpu;
	memset(ours, 0, sizeof(ours));
	ours[own.index % LWK_MAX_SLOTS] = true;
	return 0;
}

static void create_or_fail(const char *device, uint32_t flags)
{
	int error = create_process(flags, getenv(ENV_WAIT) ? UINT_MAX : BUSY_RETRIES, !flags);

	if (error == -EAGAIN)
		fail(EXIT_LWK,
		     "wanted a free LWK CPU, but each of the %u has its process; start at most %u at a time (srun -n %u), or ask for more CPUs (one CPU of the job stays with Linux)",
		     session.cpus, session.cpus, session.cpus);
	if (error == -EHOSTDOWN)
		instance_gone();
	if (error)
		fail(EXIT_LWK, "%s: no process can be made: %s", device, strerror(-error));
}

static int map_channel(void)
{
	own.channel = mmap(NULL, sizeof(*own.channel), PROT_READ | PROT_WRITE, MAP_SHARED,
			   session.device, LWK_MMAP_CHANNEL);
	return own.channel == MAP_FAILED ? -errno : 0;
}

int session_add_thread(void)
{
	struct lwk_thread_create create = { 0 };

	if (ioctl(session.device, LWK_THREAD_CREATE, &create))
		return -errno;
	own.index = create.index;
	own.cpu = create.cpu;
	__atomic_store_n(&ours[own.index % LWK_MAX_SLOTS], true, __ATOMIC_RELAXED);
	return map_channel();
}

static bool may_use(uint32_t index)
{
	bool free = true;

	for (uint32_t slot = index; slot < session.status->n_slots && slot < LWK_MAX_SLOTS;
	     slot += session.cpus) {
		uint32_t state = session.status->cpu[slot].times.state;

		if (__atomic_load_n(&ours[slot], __ATOMIC_RELAXED))
			return true;
		free &= state == LWK_CPU_OFF || state == LWK_CPU_IDLE;
	}
	return free;
}

void session_cpus(struct numbers *cpus)
{
	struct lwk_usage usage = { .capacity = LWK_STATUS_BYTES(session.cpus) };
	struct lwk_status *status = malloc(usage.capacity);

	usage.buffer = (uintptr_t)status;
	memset(cpus, 0, sizeof(*cpus));
	numbers_add(cpus, own.cpu);
	if (status && ioctl(session.device, LWK_GET_USAGE, &usage) == 0)
		for (uint32_t i = 0; i < session.cpus; i++)
			if (may_use(i))
				numbers_add(cpus, status->cpu[i].linux_cpu);
	free(status);
}

/* 0 or a negative errno. */
static int map_window_part(uint64_t start, uint64_t end)
{
	void *part = start < end ? mmap((void *)start, end - start, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_FIXED_NOREPLACE, session.device,
					LWK_MMAP_WINDOW + (start - LWK_USER_START))
				 : NULL;

	return part == MAP_FAILED ? -errno : 0;
}

/* All of the window but what a parent has shared with us (share.c). 0 or a negative errno. */
static int map_window(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t at = LWK_USER_START, start, end;
	char line[PATH_MAX + 128];
	int error = 0;

	if (!maps)
		return -errno;
	while (!error && fgets(line, sizeof(line), maps) &&
	       sscanf(line, "%lx-%lx", &start, &end) == 2 && start < LWK_USER_END) {
		if (end <= LWK_USER_START)
			continue;
		error = map_window_part(at, start);
		at = end;
	}
	fclose(maps);
	return error ? error : map_window_part(at, LWK_USER_END);
}

/* What is shared with the LWK process. 0 or a negative errno. */
static int map_shared(void)
{
	int error;

	session.status = mmap(NULL, session.status_bytes, PROT_READ, MAP_SHARED, session.device,
			      LWK_MMAP_STATUS);
	if (session.status == MAP_FAILED)
		return -errno;
	error = map_window();
	return error ? error : map_channel();
}

/* With session.device open: makes the process. */
static void begin(const char *device, uint32_t flags)
{
	struct lwk_instance_status status;
	int error;

	if (session.device < 0 || ioctl(session.device, LWK_GET_STATUS, &status))
		fail(EXIT_LWK, "%s: is no LWK instance's device; name one like /dev/lwk/0", device);
	session.cpus = status.cpus;
	session.status_bytes = status.status_bytes;
	create_or_fail(device, flags);
	error = map_shared();
	if (error)
		fail(EXIT_LWK, "%s: the LWK's memory cannot be mapped here (%s); %s", device,
		     strerror(-error), error == -ENOMEM ? "raise ulimit -v" : "please report this");
}

void session_open(const char *device)
{
	const char *calls = getenv(ENV_CALLS);

	session.device = open(device, O_RDWR | O_CLOEXEC);
	if (session.device < 0)
		fail(EXIT_LWK, "%s: cannot be opened (%s); is this a job with --lwk?", device,
		     strerror(errno));
	session.device = channel_keep(session.device);
	if (calls && strcmp(calls, "proxy") == 0)
		serve_flags = 0;
	begin(device, 0);
	unsetenv(ENV_WAIT);
}

void session_resume(int device, bool proxy_calls)
{
	fcntl(device, F_SETFD, FD_CLOEXEC);
	session.device = channel_keep(device);
	serve_flags = proxy_calls ? 0 : LWK_SERVE_CALLS;
	begin("the LWK's device", LWK_PROC_AGAIN);
}

bool session_proxy_calls(void)
{
	return !serve_flags;
}

/* Another open file of the device, in the place of ours, which is our parent's too. */
static int reopen(void)
{
	char path[64];
	int device, error = 0;

	session_path(path, sizeof(path));
	device = open(path, O_RDWR | O_CLOEXEC);
	if (device < 0 || dup3(device, session.device, O_CLOEXEC) < 0)
		error = -errno;
	if (device >= 0)
		close(device);
	return error;
}

void session_path(char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", session.device);
}

int session_renew(void)
{
	int error = reopen();

	if (error) {
		/* Our parent's process must not live on because of us. */
		close(session.device);
		return error;
	}
	error = create_process(LWK_PROC_SHARE, FORK_RETRIES, false);
	return error ? error : map_shared();
}

int session_close(void)
{
	int left;

	__atomic_store_n(&closed, true, __ATOMIC_SEQ_CST);
	munmap((void *)LWK_USER_START, LWK_USER_END - LWK_USER_START);
	/* Our other threads may wait in the device, which closing does not end. */
	left = ioctl(session.device, LWK_PROC_END);
	munmap((void *)session.status, session.status_bytes);
	close(session.device);
	return left;
}

bool session_closed(void)
{
	return __atomic_load_n(&closed, __ATOMIC_SEQ_CST);
}

static bool try_receive(struct lwk_packet *packet)
{
	struct lwk_ring *ring = &own.channel->to_linux;
	uint32_t tail = ring->tail;

	if (__atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) == tail)
		return false;
	*packet = ring->slot[tail % LWK_RING_SLOTS];
	__atomic_store_n(&ring->tail, tail + 1, __ATOMIC_RELEASE);
	return true;
}

void channel_receive(struct lwk_packet *packet)
{
	/* Else what waits already is for the module to look at first. */
	if (!(serve_flags & LWK_SERVE_CALLS) && try_receive(packet))
		return;
	do {
		serve.flags = serve_flags;
		serve.keep_from = channel_next_owned(0);
		serve.has_reply = 0;
		if (ioctl(session.device, LWK_SERVE, &serve) && errno != EINTR)
			instance_gone();
		if (serve.has_reply)
			channel_reply(serve.id, serve.result);
	} while (serve.has_reply || !try_receive(packet));
}

static void send_packet(const struct lwk_packet *packet)
{
	struct lwk_ring *ring = &own.channel->to_lwk;
	uint32_t head = ring->head;

	/* Never more than a request and a reply under way, so there is a free slot. */
	ring->slot[head % LWK_RING_SLOTS] = *packet;
	__atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&own.channel->lwk_sleeps, __ATOMIC_RELAXED))
		ioctl(session.device, LWK_DOORBELL);
}

void channel_reply(uint32_t id, int64_t result)
{
	struct lwk_packet packet = { .kind = LWK_PACKET_REPLY, .id = id, .args = { result } };

	send_packet(&packet);
}

uint64_t channel_served(void)
{
	return serve.served;
}

int64_t channel_call(uint64_t nr, const uint64_t args[6])
{
	struct lwk_packet packet = { .kind = LWK_PACKET_REQUEST, .id = ++next_id, .nr = nr };
	uint32_t id = packet.id;

	memcpy(packet.args, args, sizeof(packet.args));
	send_packet(&packet);
	for (;;) {
		channel_receive(&packet);
		if (packet.kind == LWK_PACKET_REPLY && packet.id == id)
			return packet.args[0];
		if (packet.kind == LWK_PACKET_REQUEST)
			channel_reply(packet.id, call_execute(&packet));
		else if (packet.kind == LWK_PACKET_NOTICE && packet.nr == LWK_CALL_EXIT)
			program_ended(&packet);
	}
}

/* How many the LWK has not taken. */
static uint32_t signals_waiting(const struct lwk_signals *ring)
{
	return ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

bool channel_signal(const struct lwk_signal *signal)
{
	struct lwk_signals *ring = &own.channel->signals;
	bool is_last = signals_waiting(ring) + 1 >= LWK_SIGNAL_SLOTS;

	ring->slot[ring->head % LWK_SIGNAL_SLOTS] = *signal;
	if (is_last)
		__atomic_store_n(&ring->held, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_SEQ_CST);
	ioctl(session.device, LWK_DOORBELL);
	return !is_last;
}

bool channel_holds_signals(void)
{
	return __atomic_load_n(&own.channel->signals.held, __ATOMIC_RELAXED);
}

void channel_release_signals(void)
{
	if (signals_waiting(&own.channel->signals) < LWK_SIGNAL_SLOTS)
		__atomic_store_n(&own.channel->signals.held, 0, __ATOMIC_RELAXED);
}

size_t channel_take_back(struct lwk_signal signals[LWK_SIGNAL_SLOTS])
{
	struct lwk_signals *ring = &own.channel->signals;
	uint32_t n = signals_waiting(ring), first = ring->head - n;

	for (uint32_t i = 0; i < n && i < LWK_SIGNAL_SLOTS; i++)
		signals[i] = ring->slot[(first + i) % LWK_SIGNAL_SLOTS];
	__atomic_store_n(&ring->head, first, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->held, 0, __ATOMIC_RELAXED);
	return n < LWK_SIGNAL_SLOTS ? n : LWK_SIGNAL_SLOTS;
}
