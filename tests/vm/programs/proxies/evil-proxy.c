/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evil-proxy DEVICE: a proxy that writes nonsense to its channel. It runs on the Linux side of an
 * LWK job and may harm itself only; the LWK, lwkpart.ko and other programs must go on.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "proxies/own-proxy.h"

static int bad_requests(const char *path)
{
	struct lwk_serve serve = {};

	device = open(path, O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	CHECK(ioctl(device, LWK_SERVE, &serve) < 0 && errno == EINVAL); /* no process yet */
	CHECK(ioctl(device, LWK_GRANT) < 0 && errno == EPERM);
	close(device);
	CHECK(begin(path) == 0);
	/* The LWK wants no page. */
	CHECK(ioctl(device, LWK_GRANT) < 0 && errno == EINVAL);
	CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, LWK_MMAP_WINDOW) == MAP_FAILED);
	CHECK(ioctl(device, LWK_SERVE, NULL) < 0 && errno == EFAULT);
	CHECK(ioctl(device, LWK_SERVE, 0xffffffff81000000) < 0 && errno == EFAULT);
	serve.flags = 1u << 31;
	CHECK(ioctl(device, LWK_SERVE, &serve) < 0 && errno == EINVAL);
	end();
	return 0;
}

/* Asks for threads that lwkpart.ko must refuse. */
static int bad_threads(const char *path)
{
	struct lwk_thread_create create = { .flags = 1 };
	pid_t child;
	int status;

	device = open(path, O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	CHECK(ioctl(device, LWK_PROC_END) < 0 && errno == EPERM);
	CHECK(ioctl(device, LWK_THREAD_CREATE, &create) < 0 && errno == EINVAL);
	create.flags = 0;
	CHECK(ioctl(device, LWK_THREAD_CREATE, &create) < 0 && errno == EINVAL); /* no process */
	close(device);
	CHECK(begin(path) == 0);
	CHECK(ioctl(device, LWK_THREAD_CREATE, NULL) < 0 && errno == EFAULT);
	CHECK(ioctl(device, LWK_THREAD_CREATE, &create) < 0 && errno == EALREADY);
	child = fork();
	if (child == 0)
		_exit(ioctl(device, LWK_THREAD_CREATE, &create) < 0 && errno == EPERM &&
				      ioctl(device, LWK_PROC_END) < 0 && errno == EPERM
			      ? 0
			      : 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(ioctl(device, LWK_PROC_END) == 0);
	CHECK(ioctl(device, LWK_PROC_END) == 0);
	CHECK(ioctl(device, LWK_DOORBELL) < 0 && errno == EIO);
	end();
	return 0;
}

/* Asks for copies of processes that no process offers. */
static int bad_copies(const char *path)
{
	const uint64_t numbers[] = { 0, 1, 2, 3, 1UL << 61, 1UL << 62, -1UL };

	CHECK(begin(path) == 0);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		for (uint64_t cpu = 0; cpu < 5; cpu++)
			CHECK(ask(LWK_CALL_COPY, cpu, numbers[i], 0) == -EINVAL);
		CHECK(ask(LWK_CALL_COPY, 1UL << 32, numbers[i], 0) == -EINVAL);
		CHECK(ask(LWK_CALL_COPY, -1UL, numbers[i], 0) == -EINVAL);
	}
	CHECK(ask(LWK_CALL_MAP, LWK_USER_START, 4096, PROT_READ) == 0);
	CHECK(ask(LWK_CALL_COPY, 0, 1, 0) == -EINVAL);
	end();
	return 0;
}

/* Returns true if Linux can write this byte there. */
static int writable(uint64_t address, char byte)
{
	int ends[2], result;

	if (pipe(ends))
		return -1;
	result = write(ends[1], &byte, 1) == 1 && read(ends[0], (void *)address, 1) == 1;
	close(ends[0]);
	close(ends[1]);
	return result;
}

/* Tries to move what is mapped there to a place that Linux chooses, and to where it was told. */
static int stays(void *mapping, size_t size)
{
	void *place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(place != MAP_FAILED);
	CHECK(mremap(mapping, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED);
	munmap(place, size);
	CHECK(mremap(mapping, size, 2 * size, MREMAP_MAYMOVE) == MAP_FAILED);
	/* This would be a second mapping of the same pages. */
	CHECK(mremap(mapping, 0, size, MREMAP_MAYMOVE) == MAP_FAILED);
	return 0;
}

/* Moves mappings of the device, and writes where the LWK did not allow it at first. */
static int bad_mappings(const char *path)
{
	volatile char *window = (char *)0x100000000;
	const uint64_t start = (uint64_t)window;
	void *status;

	CHECK(begin(path) == 0);
	status = mmap(NULL, 4096, PROT_READ, MAP_SHARED, device, LWK_MMAP_STATUS);
	CHECK(status != MAP_FAILED);
	CHECK(mmap((void *)start, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   device, LWK_MMAP_WINDOW + start - LWK_USER_START) == window);
	CHECK(ask(LWK_CALL_MAP, start, 8192, PROT_READ | PROT_WRITE) == 0);
	window[0] = 1;
	window[4096] = 2;
	CHECK(stays((void *)start, 8192) == 0);
	CHECK(stays((void *)start, 4096) == 0);
	CHECK(stays(channel, sizeof(*channel)) == 0);
	CHECK(stays(status, 4096) == 0);
	CHECK(window[0] == 1 && window[4096] == 2);
	munmap(status, 4096);

	CHECK(ask(LWK_CALL_PROTECT, start, 4096, PROT_READ) == 0);
	CHECK(readable(start) && !writable(start, 3));
	CHECK(readable(start) && window[0] == 1);
	CHECK(ask(LWK_CALL_PROTECT, start, 4096, PROT_READ | PROT_WRITE) == 0);
	CHECK(writable(start, 4) && window[0] == 4 && window[4096] == 2);
	munmap((void *)start, 8192);
	end();
	return 0;
}

/*
 * Begins another process in the same file: where lwkpart.ko must refuse it, and where the first
 * one's memory must be out of reach.
 */
static int bad_changes(const char *path)
{
	struct lwk_proc_create create = { .pid = getpid(), .flags = LWK_PROC_AGAIN };
	const uint64_t start = 0x100000000;
	pid_t child;
	int status;

	device = open(path, O_RDWR | O_CLOEXEC);
	CHECK(device >= 0);
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) < 0 && errno == EINVAL); /* no process */
	close(device);
	CHECK(begin(path) == 0);
	create.flags = LWK_PROC_AGAIN | 2;
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) < 0 && errno == EINVAL);
	create.flags = LWK_PROC_AGAIN;
	child = fork();
	if (child == 0)
		_exit(ioctl(device, LWK_PROC_CREATE, &create) < 0 && errno == EPERM ? 0 : 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);

	CHECK(mmap((void *)start, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   device, LWK_MMAP_WINDOW + start - LWK_USER_START) == (void *)start);
	CHECK(ask(LWK_CALL_MAP, start, 4096, PROT_READ | PROT_WRITE) == 0);
	CHECK(readable(start));
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) == 0);
	CHECK(!readable(start));
	/* The channel is a new one, too. */
	CHECK(channel->to_lwk.count == 0 && channel->to_linux.count == 0);
	CHECK(ask(LWK_CALL_MAP, start, 4096, PROT_READ | PROT_WRITE) == 0);
	CHECK(readable(start));
	CHECK(ioctl(device, LWK_PROC_END) == 0);
	CHECK(!readable(start));
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) < 0 && errno == EINVAL);
	munmap((void *)start, 4096);
	end();
	return 0;
}

/* Returns the bytes that Linux's kernel has taken for this process's cgroup, or -1. */
static long kernel_bytes(void)
{
	char line[4096], path[4200], *name;
	FILE *groups = fopen("/proc/self/cgroup", "r"), *file = NULL;
	long bytes = -1;

	while (groups && !file && fgets(line, sizeof(line), groups)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "0::", 3) == 0) {
			snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.stat", line + 3);
			file = fopen(path, "r");
		} else if ((name = strstr(line, ":memory:"))) {
			snprintf(path, sizeof(path),
				 "/sys/fs/cgroup/memory%s/memory.kmem.usage_in_bytes", name + 8);
			file = fopen(path, "r");
		}
	}
	while (file && bytes < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "slab_unreclaimable %ld", &bytes) != 1)
			sscanf(line, "%ld", &bytes);
	if (file)
		fclose(file);
	if (groups)
		fclose(groups);
	return bytes;
}

static void *become_thread(void *result)
{
	struct lwk_thread_create create = { 0 };

	*(int *)result = ioctl(device, LWK_THREAD_CREATE, &create);
	return NULL;
}

/* Begins a thread so many times, and the process again after each, which ends the thread. */
static int begin_threads(unsigned times)
{
	struct lwk_proc_create again = { .pid = getpid(), .flags = LWK_PROC_AGAIN };

	while (times--) {
		int result = -1;
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, become_thread, &result) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
		CHECK(result == 0);
		CHECK(ioctl(device, LWK_PROC_CREATE, &again) == 0);
	}
	return 0;
}

/* Has lwkpart.ko make ever more threads, of which few are there at a time. */
static int many_threads(const char *path)
{
	const long most = 256 << 10; /* each thread takes some hundred bytes */
	long before, taken = most;

	CHECK(begin(path) == 0);
	CHECK(begin_threads(100) == 0);
	before = kernel_bytes();
	CHECK(before > 0);
	CHECK(begin_threads(3000) == 0);
	/* Linux frees some of what its own threads had a while later. */
	for (unsigned i = 0; i < 100 && taken >= most; i++) {
		usleep(100000);
		taken = kernel_bytes() - before;
	}
	printf("3000 threads took %ld bytes\n", taken);
	CHECK(taken < most);
	end();
	return 0;
}

/* Listens for events with as many files as it can. */
static int too_many_listeners(const char *path)
{
	struct lwk_eventfd request = { .event = LWK_EVENT_EXIT };
	int files[2 * LWK_MAX_INSTANCE_EVENTFDS / LWK_MAX_EVENTFDS];
	unsigned n_files = sizeof(files) / sizeof(*files), listeners = 0;
	int error = 0;

	for (unsigned i = 0; i < n_files; i++) {
		files[i] = open(path, O_RDWR | O_CLOEXEC);
		CHECK(files[i] >= 0);
		for (unsigned j = 0; j < LWK_MAX_EVENTFDS; j++) {
			request.fd = eventfd(0, EFD_CLOEXEC);
			listeners += ioctl(files[i], LWK_EVENTFD, &request) == 0;
			error = errno;
			close(request.fd);
		}
	}
	CHECK(error == ENOSPC);
	CHECK(listeners > LWK_MAX_INSTANCE_EVENTFDS / 2 && listeners <= LWK_MAX_INSTANCE_EVENTFDS);
	for (unsigned i = 0; i < n_files; i++)
		close(files[i]);
	device = open(path, O_RDWR | O_CLOEXEC);
	request.fd = eventfd(0, EFD_CLOEXEC);
	CHECK(ioctl(device, LWK_EVENTFD, &request) == 0);
	/* An event that adds 1000 times to an eventfd wakes all that wait for it 1000 times. */
	CHECK(ioctl(device, LWK_EVENTFD, &request) < 0 && errno == EEXIST);
	close(device);
	close(request.fd);
	return 0;
}

/* Writes a request behind those that the channel has and nobody has read. */
static void forge(uint64_t nr, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	struct lwk_ring *ring = &channel->to_linux;
	uint32_t count = ring->count;

	while (ring->slot[count % LWK_RING_SLOTS].turn == (uint16_t)(count + 1))
		count++;
	ring->slot[count % LWK_RING_SLOTS] = (struct lwk_packet){
		.kind = LWK_PACKET_REQUEST,
		.turn = count + 1,
		.id = 77,
		.nr = nr,
		.args = { arg0, arg1, arg2 },
	};
}

/* A request that the LWK never made is carried out, if at all, as a call of the proxy's own. */
static int forged_requests(const char *path, unsigned flags)
{
	struct lwk_serve serve = { .flags = flags };
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC), status;
	struct lwk_packet packet;
	pid_t child;

	CHECK(begin(path) == 0);
	serve.keep_from = device;
	CHECK(fd < device);
	forge(SYS_close, fd, 0, 0);
	/*
	 * Before Linux 6.6 the file closes on the way back to here, so this process must send the
	 * reply.
	 */
	CHECK(serve_for(300, &serve) == 0 ? serve.has_reply && serve.id == 77 && !serve.result
					  : errno == EINTR);
	CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
	/* The module must not close a descriptor that the proxy keeps. */
	forge(SYS_close, device, 0, 0);
	CHECK(serve_for(300, &serve) == 0);
	CHECK(fcntl(device, F_GETFD) >= 0);
	channel->to_linux.count++;
	forge(SYS_read, 0, 0xffffffff81000000, 4096);
	forge(SYS_write, 999, 0, 1UL << 62);
	forge(1UL << 63 | SYS_read, 0, 0, 0);
	CHECK(serve_for(300, &serve) == 0); /* the last is no call at all */
	/* A child has the file, if not the mapping, and is not the proxy. */
	child = fork();
	if (child == 0) {
		if (map_channel())
			_exit(2);
		while (ring_read(&channel->to_linux, &packet))
			;
		fd = open("/dev/null", O_RDWR);
		forge(SYS_close, fd, 0, 0);
		_exit(serve_for(300, &serve) == 0 && fcntl(fd, F_GETFD) >= 0 ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	end();
	return 0;
}

/*
 * The proxy has the module close the device's file, whose ioctl(2) is under way and to which nothing
 * else refers: no other thread and no mapping.
 */
static int closes_its_device(const char *path, unsigned flags)
{
	struct lwk_serve serve = { .flags = flags, .keep_from = ~0U };

	CHECK(begin(path) == 0);
	forge(SYS_close, device, 0, 0);
	munmap(channel, sizeof(*channel));
	/* A signal would end the call, whatever it has done. */
	CHECK(serve_for(60000, &serve) == 0);
	CHECK(serve.has_reply && serve.id == 77 && !serve.result);
	CHECK(fcntl(device, F_GETFD) < 0 && errno == EBADF);
	return 0;
}

/* Another process scribbles over the whole channel while this one serves. */
static int scribbles(const char *path, unsigned flags)
{
	struct lwk_serve serve = { .flags = flags };
	pid_t child;
	int status;

	CHECK(begin(path) == 0);
	child = fork();
	if (child == 0) {
		if (map_channel())
			_exit(2);
		srandom(1);
		for (;;)
			((uint32_t *)channel)[random() % (sizeof(*channel) / 4)] = random();
	}
	for (unsigned i = 0; i < 2000; i++) {
		/* A call in the name of this proxy must not reach anything else. */
		channel->to_linux.slot[i % LWK_RING_SLOTS].nr = SYS_lseek;
		serve_for(1, &serve);
		ioctl(device, LWK_DOORBELL);
	}
	kill(child, SIGKILL);
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	end();
	return 0;
}

int main(int argc, char **argv)
{
	const unsigned in_module = LWK_SERVE_CALLS, by_server = in_module | LWK_SERVE_BY_SERVER;

	handle_alarms();
	return argc != 2 || bad_requests(argv[1]) || bad_threads(argv[1]) || bad_copies(argv[1]) ||
	       bad_changes(argv[1]) || bad_mappings(argv[1]) || many_threads(argv[1]) ||
	       too_many_listeners(argv[1]) || forged_requests(argv[1], in_module) ||
	       forged_requests(argv[1], by_server) || closes_its_device(argv[1], in_module) ||
	       closes_its_device(argv[1], by_server) || scribbles(argv[1], in_module) ||
	       scribbles(argv[1], by_server);
}
