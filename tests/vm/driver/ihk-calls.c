// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls libihk in good and bad ways, as root of a machine with nothing reserved, and checks what
 * its calls return. Links only libihk, so that it can judge any.
 *
 *	ihk-calls IMAGE CPU,CPU,CPU NODE UID
 *
 * IMAGE is a kernel; the CPUs and the NUMA node may be taken; UID is an ordinary user. Prints TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/ihk/ihklib.h"

#define MB (1UL << 20)
#define ALL (-1UL)
#define BYTES (192 * MB)

static int checks, failures, node;
static int cpus[3];
static uid_t user;

static void expect_(long got, long wanted, const char *what)
{
	printf("%s %d - %s: %ld\n", got == wanted ? "ok" : "not ok", ++checks, what, wanted);
	if (got != wanted)
		printf("# found %ld\n", got);
	failures += got != wanted;
	fflush(stdout);
}
#define expect(call, wanted) expect_(call, wanted, #call)

/* Runs the test as the user, in a process of its own. */
static void as_user(void (*test)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		failures = 0;
		if (setgid(user) < 0 || setuid(user) < 0)
			_exit(1);
		test();
		_exit(failures != 0);
	}
	waitpid(pid, &status, 0);
	expect_(status, 0, "the checks as a user");
}

static void strange_devices(void)
{
	static const int numbers[] = { INT_MIN, -1, 1, INT_MAX };
	struct ihk_mem_chunk chunk = { BYTES, node };
	int list[4];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		int n = numbers[i];

		expect(ihk_reserve_cpu(n, cpus, 1), -ENOENT);
		expect(ihk_get_num_reserved_cpus(n), -ENOENT);
		expect(ihk_query_cpu(n, list, 0), -ENOENT);
		expect(ihk_release_cpu(n, cpus, 1), -ENOENT);
		expect(ihk_reserve_mem(n, &chunk, 1), -ENOENT);
		expect(ihk_get_num_reserved_mem_chunks(n), -ENOENT);
		expect(ihk_query_mem(n, &chunk, 0), -ENOENT);
		expect(ihk_release_mem(n, &chunk, 1), -ENOENT);
		expect(ihk_create_os(n), -ENOENT);
		expect(ihk_destroy_os(n, 0), -ENOENT);
	}
}

static void strange_instances(int os)
{
	struct ihk_ikc_cpu_map map = { cpus[0], 0 };
	struct ihk_mem_chunk chunk = { BYTES, node };
	static char text[IHK_KMSG_SIZE];
	static struct ihk_os_rusage rusage;
	static char kargs[] = "hidos", image[] = "/dev/null";
	unsigned long bytes;
	int list[1];

	expect(ihk_os_assign_cpu(os, cpus, 1), -ENOENT);
	expect(ihk_os_get_num_assigned_cpus(os), -ENOENT);
	expect(ihk_os_query_cpu(os, list, 1), -ENOENT);
	expect(ihk_os_release_cpu(os, cpus, 1), -ENOENT);
	expect(ihk_os_set_ikc_map(os, &map, 1), -ENOENT);
	expect(ihk_os_get_ikc_map(os, &map, 1), -ENOENT);
	expect(ihk_os_assign_mem(os, &chunk, 1), -ENOENT);
	expect(ihk_os_get_num_assigned_mem_chunks(os), -ENOENT);
	expect(ihk_os_query_mem(os, &chunk, 1), -ENOENT);
	expect(ihk_os_release_mem(os, &chunk, 1), -ENOENT);
	expect(ihk_os_get_eventfd(os, IHK_OS_EVENTFD_TYPE_OOM), -ENOENT);
	expect(ihk_os_load(os, image), -ENOENT);
	expect(ihk_os_kargs(os, kargs), -ENOENT);
	expect(ihk_os_boot(os), -ENOENT);
	expect(ihk_os_shutdown(os), -ENOENT);
	expect(ihk_os_get_status(os), -ENOENT);
	expect(ihk_os_get_kmsg_size(os), -ENOENT);
	expect(ihk_os_kmsg(os, text, sizeof(text)), -ENOENT);
	expect(ihk_os_clear_kmsg(os), -ENOENT);
	expect(ihk_os_get_num_numa_nodes(os), -ENOENT);
	expect(ihk_os_query_free_mem(os, &bytes, 1), -ENOENT);
	expect(ihk_os_query_total_mem(os, &bytes, 1), -ENOENT);
	expect(ihk_os_get_num_pagesizes(os), -ENOENT);
	expect(ihk_os_getrusage(os, &rusage, sizeof(rusage)), -ENOENT);
	expect(ihk_os_perfctl(os, PERF_EVENT_ENABLE), -ENOENT);
	expect(ihk_os_makedumpfile(os, NULL, 0, 0), -ENOENT);
}

static void reserving_cpus(void)
{
	int list[4], twice[] = { cpus[0], cpus[0] }, absent[] = { cpus[0], 99999 };
	int negative[] = { -1 };

	expect(ihk_get_num_reserved_cpus(0), 0);
	expect(ihk_reserve_cpu(0, NULL, 1), -EFAULT);
	expect(ihk_reserve_cpu(0, cpus, -1), -EINVAL);
	expect(ihk_reserve_cpu(0, cpus, INT_MIN), -EINVAL);
	expect(ihk_reserve_cpu(0, cpus, INT_MAX), -EINVAL);
	expect(ihk_reserve_cpu(0, cpus, 0), 0);
	expect(ihk_reserve_cpu(0, absent, 2), -EINVAL);
	expect(ihk_reserve_cpu(0, negative, 1), -EINVAL);
	expect(ihk_reserve_cpu(0, twice, 2), -EINVAL);
	expect(ihk_get_num_reserved_cpus(0), 0);
	expect(ihk_query_cpu(0, list, 0), 0);
	expect(ihk_reserve_cpu(0, cpus, 3), 0);
	expect(ihk_reserve_cpu(0, cpus, 1), -EINVAL);
	expect(ihk_get_num_reserved_cpus(0), 3);
	expect(ihk_query_cpu(0, NULL, 3), -EINVAL);
	expect(ihk_query_cpu(0, list, 2), -EINVAL);
	expect(ihk_query_cpu(0, list, 4), -EINVAL);
	expect(ihk_query_cpu(0, list, INT_MAX), -EINVAL);
	expect(ihk_query_cpu(0, list, 3), 0);
	expect(list[0] + list[1] + list[2], cpus[0] + cpus[1] + cpus[2]);
	expect(ihk_release_cpu(0, NULL, 1), -EFAULT);
	expect(ihk_release_cpu(0, absent, 2), -EINVAL);
	expect(ihk_release_cpu(0, twice, 2), -EINVAL);
	expect(ihk_release_cpu(0, cpus, -1), -EINVAL);
	expect(ihk_release_cpu(0, cpus, 0), 0);
	expect(ihk_get_num_reserved_cpus(0), 3);
}

/* The bytes of all chunks of the device, or of an instance. */
static long sum(int os)
{
	struct ihk_mem_chunk chunks[256];
	int n = os < 0 ? ihk_get_num_reserved_mem_chunks(0)
		       : ihk_os_get_num_assigned_mem_chunks(os);
	long bytes = 0;

	if (n < 0 || n > 256)
		return -1;
	if ((os < 0 ? ihk_query_mem(0, chunks, n) : ihk_os_query_mem(os, chunks, n)) < 0)
		return -1;
	while (n--)
		bytes += chunks[n].numa_node_number == node ? (long)chunks[n].size : LONG_MIN / 2;
	return bytes;
}

static void reserving_memory(void)
{
	struct ihk_mem_chunk chunk = { BYTES, node }, odd = { BYTES + 1, node };
	struct ihk_mem_chunk elsewhere = { BYTES, 99 }, negative = { BYTES, -1 };
	struct ihk_mem_chunk too_much[] = { { 64 * MB, node }, { 1UL << 46, node } };
	struct ihk_mem_chunk all = { ALL, node }, none = { 0, node };
	int number = 4 * MB, bad = -1, big = 101;
	struct ihk_mem_chunk list[256];
	int n;

	expect(ihk_reserve_mem_conf(0, IHK_RESERVE_MEM_MIN_CHUNK_SIZE, NULL), -EFAULT);
	expect(ihk_reserve_mem_conf(0, -1, &number), -EINVAL);
	expect(ihk_reserve_mem_conf(0, IHK_RESERVE_MEM_TIMEOUT + 1, &number), -EINVAL);
	expect(ihk_reserve_mem_conf(0, IHK_RESERVE_MEM_TIMEOUT, &bad), -EINVAL);
	expect(ihk_reserve_mem_conf(0, IHK_RESERVE_MEM_MAX_SIZE_RATIO_ALL, &big), -EINVAL);
	expect(ihk_reserve_mem_conf(0, IHK_RESERVE_MEM_MIN_CHUNK_SIZE, &number), 0);
	expect(ihk_reserve_mem(0, NULL, 1), -EFAULT);
	expect(ihk_reserve_mem(0, &chunk, -1), -EINVAL);
	expect(ihk_reserve_mem(0, &chunk, INT_MAX), -EINVAL);
	expect(ihk_reserve_mem(0, &chunk, 0), 0);
	expect(ihk_reserve_mem(0, &odd, 1), -EINVAL);
	expect(ihk_reserve_mem(0, &none, 1), -EINVAL);
	expect(ihk_reserve_mem(0, &elsewhere, 1), -EINVAL);
	expect(ihk_reserve_mem(0, &negative, 1), -EINVAL);
	expect(ihk_reserve_mem(0, too_much, 2), -ENOMEM);
	expect(ihk_get_num_reserved_mem_chunks(0), 0);
	expect(ihk_reserve_mem(0, &chunk, 1), 0);
	expect(sum(-1), BYTES);
	n = ihk_get_num_reserved_mem_chunks(0);
	expect(ihk_query_mem(0, NULL, n), -EFAULT);
	expect(ihk_query_mem(0, list, n + 1), -EINVAL);
	expect(ihk_query_mem(0, list, n - 1), -EINVAL);
	expect(ihk_query_mem(0, list, INT_MIN), -EINVAL);
	expect(ihk_release_mem(0, NULL, 1), -EFAULT);
	expect(ihk_release_mem(0, &odd, 1), -EINVAL);
	expect(ihk_release_mem(0, &elsewhere, 1), -EINVAL);
	expect(sum(-1), BYTES);
	expect(ihk_release_mem(0, &all, 1), 0);
	expect(sum(-1), 0);
	expect(ihk_reserve_mem(0, &chunk, 1), 0);
}

static void making_instances(void)
{
	int list[4];

	expect(ihk_get_num_os_instances(0), 0);
	expect(ihk_destroy_os(0, 0), -EINVAL);
	expect(ihk_create_os(0), 0);
	expect(ihk_create_os(0), 1);
	expect(ihk_get_num_os_instances(0), 2);
	expect(ihk_get_os_instances(0, list, 1), -EINVAL);
	expect(ihk_get_os_instances(0, NULL, 2), -EFAULT);
	expect(ihk_get_os_instances(0, list, 2), 0);
	expect(list[0] * 10 + list[1], 1);
	expect(ihk_destroy_os(0, -1), -EINVAL);
	expect(ihk_destroy_os(0, INT_MAX), -EINVAL);
	expect(ihk_destroy_os(0, 1), 0);
	expect(ihk_destroy_os(0, 1), -EINVAL);
	expect(ihk_get_num_os_instances(0), 1);
}

static void assigning(void)
{
	struct ihk_mem_chunk chunk = { BYTES, node }, more = { 2 * BYTES, node };
	struct ihk_mem_chunk all = { ALL, node }, list[256];
	int absent[] = { cpus[0], 0 }, twice[] = { cpus[0], cpus[0] }, got[4], n;

	expect(ihk_os_assign_cpu(0, NULL, 1), -EFAULT);
	expect(ihk_os_assign_cpu(0, cpus, -1), -EINVAL);
	expect(ihk_os_assign_cpu(0, cpus, INT_MAX), -EINVAL);
	expect(ihk_os_assign_cpu(0, cpus, 0), 0);
	expect(ihk_os_assign_cpu(0, absent, 2), -EINVAL);
	expect(ihk_os_assign_cpu(0, twice, 2), -EINVAL);
	expect(ihk_os_get_num_assigned_cpus(0), 0);
	expect(ihk_os_assign_cpu(0, cpus, 3), 0);
	expect(ihk_os_assign_cpu(0, cpus, 1), -EINVAL);
	expect(ihk_get_num_reserved_cpus(0), 0);
	expect(ihk_release_cpu(0, cpus, 1), -EINVAL);
	expect(ihk_os_query_cpu(0, got, 2), -EINVAL);
	expect(ihk_os_query_cpu(0, got, 0), -EINVAL);
	expect(ihk_os_query_cpu(0, got, 3), 0);
	expect(ihk_os_release_cpu(0, cpus + 2, 1), 0);
	expect(ihk_os_release_cpu(0, cpus + 2, 1), -EINVAL);
	expect(ihk_os_get_num_assigned_cpus(0), 2);
	expect(ihk_get_num_reserved_cpus(0), 1);

	expect(ihk_os_assign_mem(0, NULL, 1), -EFAULT);
	expect(ihk_os_assign_mem(0, &chunk, -1), -EINVAL);
	expect(ihk_os_assign_mem(0, &more, 1), -ENOMEM);
	expect(ihk_os_assign_mem(0, &chunk, 0), 0);
	expect(ihk_os_assign_mem(0, &chunk, 1), 0);
	expect(ihk_os_assign_mem(0, &chunk, 1), -ENOMEM);
	expect(sum(0), BYTES);
	expect(sum(-1), 0);
	n = ihk_os_get_num_assigned_mem_chunks(0);
	expect(ihk_os_query_mem(0, list, n + 1), -EINVAL);
	expect(ihk_os_query_mem(0, NULL, n), -EFAULT);
	expect(ihk_os_release_mem(0, &all, 1), 0);
	expect(sum(-1), BYTES);
	expect(ihk_os_assign_mem(0, &all, 1), 0);
	expect(sum(0), BYTES);
}

static void mapping(void)
{
	struct ihk_ikc_cpu_map map[] = { { cpus[0], 1 }, { cpus[1], 0 } }, got[2];
	struct ihk_ikc_cpu_map stranger[] = { { cpus[0], 1 }, { cpus[2], 0 } };
	struct ihk_ikc_cpu_map off[] = { { cpus[0], cpus[1] }, { cpus[1], 0 } };

	expect(ihk_os_set_ikc_map(0, map, 0), -EINVAL);
	expect(ihk_os_set_ikc_map(0, map, 1), -EINVAL);
	expect(ihk_os_set_ikc_map(0, map, INT_MAX), -EINVAL);
	expect(ihk_os_set_ikc_map(0, stranger, 2), -EINVAL);
	expect(ihk_os_set_ikc_map(0, off, 2), -EINVAL);
	expect(ihk_os_set_ikc_map(0, map, 2), 0);
	expect(ihk_os_get_ikc_map(0, got, 1), -EINVAL);
	expect(ihk_os_get_ikc_map(0, got, 2), 0);
	expect(got[0].src_cpu == cpus[0] ? got[0].dst_cpu : got[1].dst_cpu, 1);
}

static void before_boot(char *image)
{
	static char text[IHK_KMSG_SIZE], good[] = "hidos ksyslogd=0", bad[] = "nohidos hidos=1";
	static char absent[] = "/nonexistent", directory[] = "/", script[] = "/etc/passwd";
	static char endless[8192];
	static struct ihk_os_rusage rusage;
	ihk_perf_event_attr attr = { .config = 0xc0 };
	unsigned long set = 1, count;

	memset(endless, 'x', sizeof(endless) - 1);
	expect(ihk_os_get_status(0), IHK_STATUS_INACTIVE);
	expect(ihk_os_boot(0), -EINVAL);
	expect(ihk_os_load(0, NULL), -EINVAL);
	expect(ihk_os_load(0, absent), -ENOENT);
	expect(ihk_os_load(0, directory) < 0, true);
	expect(ihk_os_load(0, script), -EINVAL);
	expect(ihk_os_boot(0), -EINVAL);
	expect(ihk_os_kargs(0, NULL), -EFAULT);
	expect(ihk_os_kargs(0, bad), -EINVAL);
	expect(ihk_os_kargs(0, endless), -EINVAL);
	expect(ihk_os_kargs(0, good), 0);
	expect(ihk_os_kmsg(0, text, sizeof(text)), -EINVAL);
	expect(ihk_os_getrusage(0, &rusage, sizeof(rusage)), -EINVAL);
	expect(ihk_os_setperfevent(0, &attr, 1), -EINVAL);
	expect(ihk_os_perfctl(0, PERF_EVENT_ENABLE), -EINVAL);
	expect(ihk_os_getperfevent(0, &count, 1), -EINVAL);
	expect(ihk_os_freeze(&set, 1), -EINVAL);
	expect(ihk_os_shutdown(0), 0);
	expect(ihk_os_load(0, image), 0);
}

static void running(char *image)
{
	static char text[IHK_KMSG_SIZE];
	static struct ihk_os_rusage rusage;
	struct ihk_mem_chunk all = { ALL, node };
	struct ihk_ikc_cpu_map map[] = { { cpus[0], 0 }, { cpus[1], 0 } };
	unsigned long set = 1, other = 2, bytes[4], total;
	static char kargs[] = "hidos";
	long sizes[IHK_MAX_NUM_PGSIZES];
	int event;

	expect(ihk_os_get_status(0), IHK_STATUS_RUNNING);
	expect(ihk_os_boot(0), -EBUSY);
	expect(ihk_os_load(0, image), -EBUSY);
	expect(ihk_os_kargs(0, kargs), -EBUSY);
	expect(ihk_os_assign_cpu(0, cpus + 2, 1), -EBUSY);
	expect(ihk_os_release_cpu(0, cpus, 1), -EBUSY);
	expect(ihk_os_release_mem(0, &all, 1), -EBUSY);
	expect(ihk_os_set_ikc_map(0, map, 2), -EBUSY);
	expect(ihk_os_get_num_assigned_cpus(0), 2);
	expect(sum(0), BYTES);

	expect(ihk_os_get_kmsg_size(0), IHK_KMSG_SIZE);
	expect(ihk_os_kmsg(0, text, sizeof(text) - 1), -EINVAL);
	expect(ihk_os_kmsg(0, NULL, sizeof(text)), -EFAULT);
	expect(ihk_os_kmsg(0, text, sizeof(text)) > 0, true);
	expect(strstr(text, "2 CPUs") != NULL, true);
	expect(ihk_os_clear_kmsg(0), 0);
	expect(ihk_os_kmsg(0, text, sizeof(text)), 0);

	expect(ihk_os_get_num_numa_nodes(0), 1);
	expect(ihk_os_query_total_mem(0, &total, 2), -EINVAL);
	expect(ihk_os_query_total_mem(0, NULL, 1), -EFAULT);
	expect(ihk_os_query_total_mem(0, &total, 1), 0);
	expect(total, BYTES);
	expect(ihk_os_query_free_mem(0, bytes, 1), 0);
	expect(bytes[0] > 0 && bytes[0] <= total, true);
	expect(ihk_os_get_num_pagesizes(0), IHK_MAX_NUM_PGSIZES);
	expect(ihk_os_get_pagesizes(0, NULL, IHK_MAX_NUM_PGSIZES), -EFAULT);
	expect(ihk_os_get_pagesizes(0, sizes, IHK_MAX_NUM_PGSIZES - 1), -EINVAL);
	expect(ihk_os_get_pagesizes(0, sizes, IHK_MAX_NUM_PGSIZES), 0);
	expect(sizes[IHK_OS_PGSIZE_2MB], 2 * MB);
	expect(ihk_os_getrusage(0, NULL, sizeof(rusage)), -EFAULT);
	expect(ihk_os_getrusage(0, &rusage, sizeof(rusage) - 1), -EINVAL);
	expect(ihk_os_getrusage(0, &rusage, sizeof(rusage)), 0);
	expect(rusage.memory_kmem_usage > 0, true);
	expect(rusage.num_threads, 0);

	expect(ihk_os_perfctl(0, 99), -EINVAL);
	expect(ihk_os_get_eventfd(0, 1), -EINVAL);
	event = ihk_os_get_eventfd(0, IHK_OS_EVENTFD_TYPE_STATUS);
	expect(event >= 0, true);
	expect(poll(&(struct pollfd){ event, POLLIN, 0 }, 1, 0), 0);
	close(event);

	expect(ihk_os_freeze(&set, 0), -EINVAL);
	expect(ihk_os_freeze(NULL, 1), -EFAULT);
	expect(ihk_os_freeze(&other, 2), -ENOENT);
	expect(ihk_os_freeze(&set, 1), 0);
	expect(ihk_os_get_status(0), IHK_STATUS_FROZEN);
	expect(ihk_os_thaw(&set, 1), 0);
	expect(ihk_os_get_status(0), IHK_STATUS_RUNNING);
}

static void dumping(void)
{
	static char path[] = "/tmp/ihk-calls.core";

	unlink(path);
	expect(ihk_os_makedumpfile(0, path, 1, 0), -EINVAL);
	expect(ihk_os_makedumpfile(0, path, 24, 0), 0);
	expect(access(path, R_OK), 0);
	unlink(path);
}

static void without_permission(void)
{
	struct ihk_mem_chunk chunk = { BYTES, node };
	int list[4];

	expect(ihk_reserve_cpu(0, cpus, 1), -EACCES);
	expect(ihk_get_num_reserved_cpus(0), -EACCES);
	expect(ihk_query_cpu(0, list, 0), -EACCES);
	expect(ihk_release_cpu(0, cpus, 1), -EACCES);
	expect(ihk_reserve_mem(0, &chunk, 1), -EACCES);
	expect(ihk_release_mem(0, &chunk, 1), -EACCES);
	expect(ihk_create_os(0), -EACCES);
	expect(ihk_destroy_os(0, 0), -EACCES);
	expect(ihk_get_num_os_instances(0), -EACCES);
	expect(ihk_os_assign_cpu(0, cpus, 1), -EACCES);
	expect(ihk_os_get_status(0), -EACCES);
	expect(ihk_os_boot(0), -EACCES);
	expect(ihk_os_shutdown(0), -EACCES);
}

static void as_owner(void)
{
	expect(ihk_os_get_status(0), IHK_STATUS_RUNNING);
	expect(ihk_os_assign_cpu(0, cpus, 1), -EPERM);
	expect(ihk_os_release_cpu(0, cpus, 1), -EPERM);
	expect(ihk_os_shutdown(0), -EPERM);
	expect(ihk_os_set_owner(0, 0), -EPERM);
}

/* Two processes make and remove instances at the same time. */
static void two_processes(void)
{
	int status, wrong = 0;
	pid_t pid = fork();

	for (int i = 0; i < 3; i++) {
		int os = ihk_create_os(0);

		wrong += os < 1 || ihk_os_get_status(os) != IHK_STATUS_INACTIVE ||
			 ihk_destroy_os(0, os) != 0;
	}
	if (pid == 0)
		_exit(wrong);
	waitpid(pid, &status, 0);
	expect_(wrong + status, 0, "two processes at the same time");
	expect(ihk_get_num_os_instances(0), 1);
}

static void ending(char *image)
{
	struct ihk_mem_chunk all = { ALL, 0 };

	expect(ihk_os_shutdown(0), 0);
	expect(ihk_os_get_status(0), IHK_STATUS_INACTIVE);
	expect(ihk_os_shutdown(0), 0);
	expect(ihk_os_get_num_assigned_cpus(0), 2);
	expect(sum(0), BYTES);
	expect(ihk_os_boot(0), -EINVAL);
	expect(ihk_os_load(0, image), 0);
	expect(ihk_os_boot(0), 0);
	/* Removing an instance that runs ends it. */
	expect(ihk_destroy_os(0, 0), 0);
	expect(ihk_get_num_reserved_cpus(0), 3);
	expect(sum(-1), BYTES);
	expect(ihk_release_mem(0, &all, 1), 0);
	expect(ihk_release_cpu(0, cpus, 3), 0);
	expect(ihk_get_num_reserved_cpus(0), 0);
}

int main(int argc, char **argv)
{
	char *image = argv[1];

	if (argc != 5 || sscanf(argv[2], "%d,%d,%d", &cpus[0], &cpus[1], &cpus[2]) != 3)
		return 2;
	node = atoi(argv[3]);
	user = atoi(argv[4]);
	strange_devices();
	strange_instances(-1);
	strange_instances(0);
	strange_instances(INT_MAX);
	reserving_cpus();
	reserving_memory();
	making_instances();
	assigning();
	mapping();
	as_user(without_permission);
	expect(ihk_os_set_owner(0, user), 0);
	before_boot(image);
	expect(ihk_os_boot(0), 0);
	running(image);
	dumping();
	as_user(as_owner);
	two_processes();
	ending(image);
	printf("1..%d\n", checks);
	return failures != 0;
}
