/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "abi/device/device.h"
#include "abi/device/process.h"
#include "abi/device/serve.h"
#include "abi/device/watch.h"
#include "abi/shared/boot.h"
#include "lwkexec/base/descriptors.h"
#include "lwkexec/base/fail.h"
#include "lwkexec/instance/gone.h"
#include "lwkexec/instance/window.h"

/* A CPU may be busy for so long with the end of its former process. */
#define BUSY_RETRIES 20
#define BUSY_SLEEP_MS 50
#define FORK_RETRIES 4
/* Set by the SPANK plugin: the program waits for a free CPU, for as long as that takes. */
#define ENV_WAIT "LWK_WAIT"
/* "proxy": lwkpart.ko leaves all calls to the proxy; for comparisons. */
#define ENV_CALLS "LWK_CALLS"

struct session session = { .device = -1 };
__thread struct own own = { .child_waits = -1 };
static bool closed;
/* True for each slot of this process, of a thread of it or of one that has ended. */
static bool ours[LWK_MAX_SLOTS];

/* Blocks LWK_SIGNAL_GONE, too, which libc's functions leave out of their sets. */
static void block_signals(void)
{
	const uint64_t all = UINT64_MAX;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
}

void session_gone(void)
{
	static bool told;

	/* There is nobody to pass a signal on to, and none shall cut the message short. */
	block_signals();
	if (session_closed() || __atomic_exchange_n(&told, true, __ATOMIC_ACQ_REL))
		for (;;)
			pause();
	fail_with_state(session.device);
}

/*
 * Makes an LWK process, with so many retries while no CPU is free and without end while the
 * instance is frozen. With 'say_frozen' the user is told of the latter.
 */
static int create_process(uint32_t flags, unsigned retries, bool say_frozen)
{
	struct lwk_proc_create create = { .index = own.index, .pid = getpid(), .flags = flags };
	struct timespec pause = { 0, BUSY_SLEEP_MS * 1000000L };
	bool told = !say_frozen;

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
	memset(ours, 0, sizeof(ours));
	ours[own.index % LWK_MAX_SLOTS] = true;
	return 0;
}

/* After an upgrade a job has the LWK and the module with which it began. */
static void fail_of_release(const char *device)
{
	fail(EXIT_LWK,
	     "%s: expected an LWK for this lwkexec, of slurm-lwk " PACKAGE_VERSION
	     ", found one of another release: slurm-lwk was upgraded while the job ran; start a new job",
	     device);
}

static void create_or_fail(const char *device, uint32_t flags)
{
	int error = create_process(flags, getenv(ENV_WAIT) ? UINT_MAX : BUSY_RETRIES, !flags);

	if (error == -EAGAIN)
		fail(EXIT_LWK,
		     "expected a free LWK CPU, but each of the %u has its process; start at most %u at a time (srun -n %u), or ask for more CPUs (one CPU of the job stays with Linux)",
		     session.cpus, session.cpus, session.cpus);
	if (error == -EHOSTDOWN)
		session_gone();
	if (error == -EACCES)
		fail(EXIT_LWK,
		     "%s: expected the user whose job it is, found user %u: processes of one LWK are not protected from each other; run the program as that user",
		     device, geteuid());
	/* The argument's size is part of an ioctl's number. */
	if (error == -ENOTTY)
		fail_of_release(device);
	if (error)
		fail(EXIT_LWK, "%s: cannot make an LWK process: %s", device, strerror(-error));
}

static int map_channel(void)
{
	void *channel = mmap(NULL, sizeof(*own.channel), PROT_READ | PROT_WRITE, MAP_SHARED,
			     session.device, LWK_MMAP_CHANNEL);

	if (channel == MAP_FAILED)
		return -errno;
	own.channel = channel;
	return 0;
}

int session_add_thread(void)
{
	struct lwk_thread_create create = { 0 };

	if (ioctl(session.device, LWK_THREAD_CREATE, &create))
		return -errno;
	own.index = create.index;
	__atomic_store_n(&ours[own.index % LWK_MAX_SLOTS], true, __ATOMIC_RELAXED);
	return map_channel();
}

/* True when a slot of this CPU is ours, or no slot of it has work. */
static bool is_own_or_free(uint32_t index)
{
	bool free = true;

	for (uint32_t slot = session.cpus; slot < session.status->n_slots && slot < LWK_MAX_SLOTS;
	     slot++) {
		uint32_t state = session.status->cpu[slot].times.state;

		if (session.status->cpu[slot].home != index + 1)
			continue;
		if (__atomic_load_n(&ours[slot], __ATOMIC_RELAXED))
			return true;
		free &= state == LWK_CPU_OFF || state == LWK_CPU_IDLE;
	}
	return free;
}

/* The CPUs that the process's first thread has been given, else those that are its own or free. */
static bool may_use(uint32_t index)
{
	const __u64 *allowed = session.status->cpu[session.index].allowed;

	for (size_t i = 0; i < LWK_MAX_CPUS / 64; i++)
		if (allowed[i])
			return index < LWK_MAX_CPUS && allowed[index / 64] >> index % 64 & 1;
	return is_own_or_free(index);
}

/* Returns a copy of the LWK's status with an element for each CPU; free() it. NULL: none. */
static struct lwk_status *copy_by_cpu(void)
{
	struct lwk_usage usage = { .capacity = LWK_STATUS_BYTES(session.cpus) };
	struct lwk_status *status = malloc(usage.capacity);

	usage.buffer = (uintptr_t)status;
	if (status && ioctl(session.device, LWK_GET_USAGE, &usage) == 0)
		return status;
	free(status);
	return NULL;
}

uint32_t session_all_cpus(struct session_cpu cpus[LWK_MAX_CPUS])
{
	struct lwk_status *status = copy_by_cpu();
	uint32_t n = status ? session.cpus : 0;

	n = n < LWK_MAX_CPUS ? n : LWK_MAX_CPUS;
	for (uint32_t i = 0; i < n; i++)
		cpus[i] =
			(struct session_cpu){ status->cpu[i].linux_cpu, status->cpu[i].linux_node };
	free(status);
	return n;
}

void session_cpus(struct numbers *cpus)
{
	struct lwk_status *status = copy_by_cpu();

	memset(cpus, 0, sizeof(*cpus));
	for (uint32_t i = 0; status && i < session.cpus; i++)
		if (may_use(i))
			numbers_add(cpus, status->cpu[i].linux_cpu);
	free(status);
}

bool session_own_cpu(uint32_t *index, uint32_t *linux_cpu)
{
	uint32_t home = session.status->cpu[own.index].home;
	struct lwk_status *status = copy_by_cpu();
	bool known = status && home && home <= session.cpus;

	if (known) {
		*index = home - 1;
		*linux_cpu = status->cpu[home - 1].linux_cpu;
	}
	free(status);
	return known;
}

/* Maps the status, the window and the channel of the session. -EPROTO: the LWK's release differs. */
static int map_areas(void)
{
	int error;

	session.status = mmap(NULL, session.status_bytes, PROT_READ, MAP_SHARED, session.device,
			      LWK_MMAP_STATUS);
	if (session.status == MAP_FAILED)
		return -errno;
	if (session.status->magic != LWK_SHARED_MAGIC)
		return -EPROTO;
	error = window_map(session.device);
	if (!error)
		error = map_channel();
	session.channel = own.channel;
	return error;
}

/* Begins the session on its open device. */
static void begin(const char *device, uint32_t flags)
{
	struct lwk_instance_status status;
	int error;

	if (session.device < 0 || ioctl(session.device, LWK_GET_STATUS, &status))
		fail(EXIT_LWK,
		     "%s: expected an LWK instance's device, found another file; name one like /dev/lwk/0",
		     device);
	session.cpus = status.cpus;
	session.status_bytes = status.status_bytes;
	create_or_fail(device, flags);
	error = map_areas();
	if (error == -EPROTO)
		fail_of_release(device);
	if (error)
		fail(EXIT_LWK, "%s: the LWK's memory cannot be mapped here (%s); %s", device,
		     strerror(-error), error == -ENOMEM ? "raise ulimit -v" : "please report this");
}

void session_open(const char *device)
{
	const char *calls = getenv(ENV_CALLS);

	session.device = open(device, O_RDWR | O_CLOEXEC);
	if (session.device < 0)
		fail(EXIT_LWK, "%s: cannot be opened (%s); start the program in a job with --lwk",
		     device, strerror(errno));
	session.device = descriptor_keep(session.device);
	session.serve = calls && strcmp(calls, "proxy") == 0 ? 0
			: calls && strcmp(calls, "kernel") == 0
				? LWK_SERVE_CALLS
				: LWK_SERVE_CALLS | LWK_SERVE_BY_SERVER;
	begin(device, 0);
	unsetenv(ENV_WAIT);
}

void session_resume(int device, uint32_t serve)
{
	fcntl(device, F_SETFD, FD_CLOEXEC);
	session.device = descriptor_keep(device);
	session.serve = serve;
	begin("the LWK's device", LWK_PROC_AGAIN);
}

/* Replaces the open file of the device, which the parent has too, by another one. */
static int reopen(void)
{
	int device, former = session.device;
	char path[64];

	session_path(path, sizeof(path));
	device = descriptor_keep(open(path, O_RDWR | O_CLOEXEC));
	if (device < 0)
		return -errno;
	session.device = device;
	descriptor_drop(former);
	return 0;
}

void session_path(char *path, size_t size)
{
	snprintf(path, size, "/proc/self/fd/%d", session.device);
}

int session_renew(void)
{
	int error = reopen();

	/* The child has not inherited its parent's channel. */
	own.channel = NULL;
	if (error) {
		/* The parent's LWK process lives as long as its file is open anywhere. */
		close(session.device);
		return error;
	}
	error = create_process(LWK_PROC_SHARE, FORK_RETRIES, false);
	return error ? error : map_areas();
}

int session_close(void)
{
	int left;

	__atomic_store_n(&closed, true, __ATOMIC_SEQ_CST);
	window_unmap();
	/* Closing the file would not end what other threads wait for in the device. */
	left = ioctl(session.device, LWK_PROC_END);
	munmap((void *)session.status, session.status_bytes);
	close(session.device);
	return left;
}

bool session_closed(void)
{
	return __atomic_load_n(&closed, __ATOMIC_SEQ_CST);
}
