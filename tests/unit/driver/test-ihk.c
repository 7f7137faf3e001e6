// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driver ihk works with a stub of the library: it makes the right calls, touches only resources
 * of its own jobs, and survives errors of the library and of IHK's modules.
 */
#include "unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "driver/ihk/ihk.h"
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "modeswitch/watch.h"
#include "unit/driver/ihk-stub/stub.h"
#include "watch/core_file.h"

#define MB (1UL << 20)
#define JOB 7
#define ANY_LIBRARY "/lib/x86_64-linux-gnu/libm.so.6"

static const struct driver *const driver = &driver_ihk;
static struct ms_error err;
static int dev;

static int setup(void **state)
{
	int ret = unit_setup(state);

	memset(stub, 0, sizeof(*stub));
	ihk_end_ms = 1000;
	if (ret == 0 && driver->use_library("", &err) == 0)
		dev = driver->open(&err);
	return dev < 0 ? -1 : ret;
}

static int teardown(void **state)
{
	driver->close(dev);
	ihk_device_prefix = IHK_DEVICE_PREFIX;
	return unit_teardown_root(state);
}

/* Lends CPUs 4 and 5 and 64 MB, and gives them to a new instance of the job; its number. */
static int make_instance(void)
{
	uint64_t start;
	int os;

	assert_int_equal(driver->lend_cpu(dev, 4), 0);
	assert_int_equal(driver->lend_cpu(dev, 5), 0);
	assert_int_equal(driver->lend_run(dev, 64 * MB, 1, &start), 0);
	os = driver->create(dev, JOB, 1000, true, false);
	assert_true(os >= 0);
	assert_int_equal(driver->assign_cpu(dev, os, 4, 1), 0);
	assert_int_equal(driver->assign_cpu(dev, os, 5, 1), 0);
	assert_int_equal(driver->assign_memory(dev, os, start, 64 * MB), 0);
	return os;
}

static void give_all_back(void)
{
	struct ms_lent *lent;
	size_t n;

	assert_int_equal(driver->ledger(dev, &lent, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(lent[i].instance, MS_NO_INSTANCE);
		assert_int_equal(lent[i].is_cpu
					 ? driver->return_cpu(dev, lent[i].cpu)
					 : driver->return_memory(dev, lent[i].start, lent[i].bytes),
				 0);
	}
	free(lent);
	assert_int_equal(driver->ledger(dev, &lent, &n), 0);
	assert_int_equal(n, 0);
	free(lent);
}

static void a_whole_life(void **state)
{
	struct instance_info info;
	uint64_t position = 0;
	char text[64];
	int os = make_instance();

	assert_int_equal(driver->info(dev, os, &info), 0);
	assert_string_equal(info.state, "INACTIVE");
	assert_int_equal(info.job_id, JOB);
	assert_int_equal(stub->os[os].owner, 1000);
	assert_int_equal(driver->load(dev, os, "kernel", 6), 0);
	assert_int_equal(stub->os[os].map_n, 2);
	assert_int_equal(stub->os[os].map_to, 1);
	assert_int_equal(driver->boot(dev, os, "quiet", 5000), 0);
	assert_string_equal(stub->os[os].kargs, "hidos quiet");
	assert_int_equal(driver->info(dev, os, &info), 0);
	assert_string_equal(info.state, "RUNNING");
	assert_false(info.failed);
	assert_int_equal(driver_instance_of_job(driver, dev, JOB), os);
	assert_int_equal(driver_instance_of_job(driver, dev, JOB + 1), MS_NO_INSTANCE);
	assert_int_equal(driver->kmsg(dev, os, &position, text, 5), 5);
	assert_int_equal(driver->kmsg(dev, os, &position, text, 5), 3);
	assert_int_equal(driver->kmsg(dev, os, &position, text, 5), 0);
	assert_int_equal(driver->return_cpu(dev, 4), -EBUSY);
	assert_int_equal(driver->shutdown(dev, os), 0);
	/* IHK has taken the CPUs from the instance, which is the job's still. */
	assert_int_equal(driver->info(dev, os, &info), 0);
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_false(stub->os[os].exists);
	assert_int_equal(driver->info(dev, os, &info), -ENOENT);
	assert_int_equal(driver->destroy(dev, os), -ENOENT);
	give_all_back();
	assert_int_equal(stub->n_cpus + stub->n_chunks, 0);
	assert_int_equal(stub->status_asked_before_boot, 0);
}

static void libraries_that_will_not_do(void **state)
{
	assert_int_equal(driver->use_library("/nonexistent/libihk.so", &err), -1);
	assert_has(err.text, "expected IHK's library /nonexistent/libihk.so, found none");
	assert_has(err.text, "install McKernel");
	if (geteuid() == 0) {
		const char *path = unit_file("libihk.so", "x");

		assert_int_equal(chmod(path, 0646), 0);
		assert_int_equal(driver->use_library(path, &err), -1);
		assert_has(err.text, "only root can write");
		assert_int_equal(chmod(path, 0644), 0);
		assert_int_equal(driver->use_library(path, &err), -1);
		assert_has(err.text, "cannot be loaded");
		if (access(ANY_LIBRARY, R_OK) == 0) {
			assert_int_equal(driver->use_library(ANY_LIBRARY, &err), -1);
			assert_has(err.text, "with the call ihk_reserve_cpu, found one without");
		}
	}
	assert_int_equal(driver->use_library("", &err), 0);
	stub->not_loaded = true;
	assert_int_equal(driver->open(&err), -ENOENT);
	stub->not_loaded = false;
	stub->garbage = true;
	assert_int_equal(driver->open(&err), -EPROTO);
	assert_has(err.text, "nonsense");
	stub->garbage = false;
	stub->no_smp = true;
	assert_int_equal(driver->open(&err), -EINVAL);
	assert_has(err.text, "see whether IHK's module ihk-smp-x86_64 is loaded");
}

static void nonsense_in_the_middle(void **state)
{
	struct instance_info info;
	struct ms_lent *lent;
	uint64_t start;
	size_t n;
	int os = make_instance();

	stub->garbage = true;
	assert_true(driver->lend_cpu(dev, 6) < 0);
	assert_true(driver->lend_run(dev, 64 * MB, 1, &start) < 0);
	assert_int_equal(driver->info(dev, os, &info), -ENOENT);
	stub->garbage = false;
	stub->lies = true;
	assert_true(driver->lend_cpu(dev, 6) < 0);
	assert_int_equal(driver->ledger(dev, &lent, &n), 0);
	assert_int_equal(n, 3);
	free(lent);
	stub->lies = false;
	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	stub->os[os].status = 99;
	assert_int_equal(driver->info(dev, os, &info), 0);
	assert_true(info.failed);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

static void memory_that_comes_in_parts(void **state)
{
	uint64_t start;

	/* Reservations of others stay. */
	stub->chunks[0].chunk = (struct ihk_mem_chunk){ 32 * MB, 1 };
	stub->chunks[0].os = -1;
	stub->n_chunks = 1;
	stub->partial = true;
	assert_int_equal(driver->lend_run(dev, 64 * MB, 1, &start), -ENOMEM);
	assert_int_equal(stub->n_chunks, 1);
	stub->partial = false;
	stub->fragments = true;
	assert_int_equal(driver->lend_run(dev, 64 * MB, 1, &start), -ENOMEM);
	assert_int_equal(stub->n_chunks, 1);
	stub->fragments = false;
	assert_int_equal(driver->lend_run(dev, 2 * MB, 1, &start), -ENOMEM);
	assert_int_equal(driver->lend_run(dev, 64 * MB, 1, &start), 0);
	assert_true(start >= IHK_FIRST_KEY);
	give_all_back();
	assert_int_equal(stub->n_chunks, 1);
}

/* The process that reserves may be killed just after it succeeded. */
static void memory_of_the_dead(void **state)
{
	struct ms_lent *lent;
	struct owned owned;
	uint64_t start;
	size_t n;
	pid_t pid;

	stub->dies = true;
	pid = fork();
	if (pid == 0)
		_exit(driver->lend_run(dev, 64 * MB, 1, &start));
	waitpid(pid, NULL, 0);
	stub->dies = false;
	/* The number of the dead is another process's now. */
	assert_int_equal(owned_load(&owned), 0);
	assert_int_equal(owned.seeker, pid);
	owned.seeker = getppid();
	assert_int_equal(owned_save(&owned), 0);
	owned_release(&owned);
	assert_int_equal(driver->ledger(dev, &lent, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(lent[0].bytes, 64 * MB);
	free(lent);
	give_all_back();
	assert_int_equal(stub->n_chunks, 0);
}

static void lwks_that_do_not_boot(void **state)
{
	struct instance_info info;
	int os = make_instance();

	assert_int_equal(driver->load(dev, os, "other", 5), -ENOEXEC);
	assert_int_equal(driver->load(dev, os, "kernel", 6), 0);
	stub->boot_hangs = true;
	assert_int_equal(driver->boot(dev, os, "", 300), -ETIMEDOUT);
	stub->boot_hangs = false;
	stub->boot_false = true;
	assert_int_equal(driver->boot(dev, os, "", 1000), -EPROTO);
	assert_int_equal(driver->info(dev, os, &info), 0);
	assert_string_equal(info.state, "BOOTING");
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

static void lwks_that_boot_late(void **state)
{
	int os = make_instance();

	assert_int_equal(driver->load(dev, os, "kernel", 6), 0);
	stub->boot_late = 3;
	assert_int_equal(driver->boot(dev, os, "", 5000), 0);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

static void lwks_that_linux_cannot_boot(void **state)
{
	int os = make_instance();

	assert_int_equal(driver->load(dev, os, "kernel", 6), 0);
	stub->boot_oopses = true;
	assert_true(driver->boot(dev, os, "", 5000) < 0);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
	assert_int_equal(stub->n_cpus + stub->n_chunks, 0);
}

static void lwks_that_nobody_boots(void **state)
{
	int os = make_instance();

	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
	assert_int_equal(stub->n_cpus + stub->n_chunks, 0);
}

static void shutdowns_that_hang(void **state)
{
	int os = make_instance();
	int64_t begin;

	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	stub->shutdown_hangs = true;
	begin = clock_ms();
	assert_int_equal(driver->shutdown(dev, os), -ETIMEDOUT);
	/* Removing the instance ends it, too. */
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_true(clock_ms() - begin < 10000);
	give_all_back();
}

/* Starts a process of the user that has the device open. */
static pid_t start_proxy(const char *device, uid_t uid)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		/* A change of user forgets the signal, so that comes first. */
		if (open(device, O_RDWR) < 0 || setuid(uid) < 0 ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		while (true)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* IHK waits for the programs that have the device open; some tools of root have it, too. */
static void proxies_end_before_the_lwk(void **state)
{
	char prefix[512], device[520];
	pid_t proxy, tool;
	int os, status;

	if (geteuid() != 0)
		skip();
	os = make_instance();
	snprintf(prefix, sizeof(prefix), "%s/mcos", unit_dir);
	snprintf(device, sizeof(device), "%s%d", prefix, os);
	assert_int_equal(mknod(device, S_IFCHR | 0600, makedev(1, 3)), 0);
	ihk_device_prefix = prefix;
	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	proxy = start_proxy(device, 1000);
	tool = start_proxy(device, 0);
	stub->proxy = proxy;
	assert_int_equal(driver->shutdown(dev, os), 0);
	assert_int_equal(waitpid(proxy, &status, 0), proxy);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(waitpid(tool, &status, WNOHANG), 0);
	kill(tool, SIGKILL);
	assert_int_equal(waitpid(tool, &status, 0), tool);
	ihk_device_prefix = IHK_DEVICE_PREFIX;
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

/* IHK refuses for reasons of its own; the memory stays the job's then. */
static void memory_that_ihk_does_not_take_back(void **state)
{
	uint64_t start, other;

	assert_int_equal(driver->lend_run(dev, 64 * MB, 1, &start), 0);
	assert_int_equal(driver->lend_run(dev, 64 * MB, 1, &other), 0);
	stub->release_fails = true;
	assert_int_equal(driver->return_memory(dev, start, 64 * MB), -EINVAL);
	stub->release_fails = false;
	assert_int_equal(driver->return_memory(dev, start, 64 * MB), 0);
	/* Another program has given this one back. */
	stub->n_chunks = 0;
	assert_int_equal(driver->return_memory(dev, other, 64 * MB), 0);
	give_all_back();
}

static void consoles_of_instances_that_are_gone(void **state)
{
	int os = make_instance(), fd;
	uint64_t position = 0;
	char device[32], text[64];

	if (geteuid() != 0)
		skip();
	snprintf(device, sizeof(device), "%s%d", driver->device_prefix, os);
	fd = driver->watching->open(device);
	assert_true(fd >= 0);
	assert_int_equal(driver->watching->console(fd, &position, text, sizeof(text)), 8);
	assert_int_equal(driver->shutdown(dev, os), 0);
	position = 0;
	assert_int_equal(driver->watching->console(fd, &position, text, sizeof(text)), -EHOSTDOWN);
	assert_int_equal(driver->kmsg(dev, os, &position, text, sizeof(text)), -EHOSTDOWN);
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_int_equal(driver->kmsg(dev, os, &position, text, sizeof(text)), -ENOENT);
	/* Another job's instance has the number now. */
	assert_int_equal(driver->create(dev, JOB + 1, 1000, true, false), os);
	assert_int_equal(driver->watching->console(fd, &position, text, sizeof(text)), -ENOENT);
	assert_int_equal(driver->kmsg(dev, os, &position, text, sizeof(text)), 8);
	close(fd);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

static void what_is_not_the_jobs(void **state)
{
	struct instance_info info;
	int stranger, other = 9, os;

	stranger = ihk_create_os(0);
	ihk_reserve_cpu(0, &other, 1);
	os = make_instance();
	assert_int_equal(driver->info(dev, stranger, &info), -ENOENT);
	assert_int_equal(driver->destroy(dev, stranger), -ENOENT);
	assert_int_equal(driver->return_cpu(dev, other), -ENOENT);
	assert_int_equal(driver->lend_cpu(dev, other), -EALREADY);
	assert_true(stub->os[stranger].exists);
	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	/* mcreboot.sh removes all instances, and makes its own of the same number. */
	ihk_destroy_os(0, os);
	assert_int_equal(ihk_create_os(0), os);
	assert_int_equal(driver->info(dev, os, &info), -ENOENT);
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_true(stub->os[os].exists);
	/* IHK has also given back a CPU of the job's. */
	other = 4;
	assert_int_equal(ihk_release_cpu(0, &other, 1), 0);
	assert_int_equal(driver->return_cpu(dev, 4), -ENOENT);
	give_all_back();
}

/* The undo of a switch looks for the job's instance, finds none, and gives back the rest. */
static void instances_that_others_remove(void **state)
{
	int os = make_instance();

	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	ihk_os_shutdown(os);
	assert_int_equal(ihk_destroy_os(0, os), 0);
	assert_int_equal(driver_instance_of_job(driver, dev, JOB), MS_NO_INSTANCE);
	give_all_back();
	os = make_instance();
	assert_int_equal(driver_instance_of_job(driver, dev, JOB), os);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

static void freezing(void **state)
{
	int os = make_instance(), fd;
	struct ms_instance_info info;
	char device[32];

	if (geteuid() != 0)
		skip();
	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	snprintf(device, sizeof(device), "%s%d", driver->device_prefix, os);
	assert_int_equal(driver->watching->open("/dev/lwk/0"), -EINVAL);
	fd = driver->watching->open(device);
	assert_true(fd >= 0);
	assert_int_equal(driver->watching->info(fd, &info), 0);
	assert_int_equal(info.cpus, 2);
	assert_int_equal(info.memory, 64 * MB);
	assert_int_equal(driver->watching->freeze(fd, true, 1000), 0);
	assert_int_equal(driver->watching->freeze(fd, false, 1000), 0);
	stub->freeze_lies = true;
	assert_int_equal(driver->watching->freeze(fd, true, 200), -ETIMEDOUT);
	close(fd);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

/* Linux ends when somebody asks IHK for the status of an instance that IHK has ended. */
static void freezing_what_ends(void **state)
{
	int os = make_instance(), fd, status;
	char device[32];
	pid_t pid;

	if (geteuid() != 0)
		skip();
	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	snprintf(device, sizeof(device), "%s%d", driver->device_prefix, os);
	fd = driver->watching->open(device);
	stub->freeze_lies = true;
	stub->status_asked = 0;
	stub->status_hangs = true;
	pid = fork();
	if (pid == 0)
		_exit(driver->watching->freeze(fd, true, 60000) == -EHOSTDOWN ? 0 : 1);
	while (!stub->status_asked)
		usleep(1000);
	/* Nobody ends it while IHK is asked. */
	assert_int_equal(driver->shutdown(dev, os), -EBUSY);
	assert_false(stub->os[os].ended);
	stub->status_hangs = false;
	assert_int_equal(driver->shutdown(dev, os), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(driver->watching->freeze(fd, true, 1000), -EHOSTDOWN);
	assert_int_equal(driver->watching->freeze(fd, false, 1000), -EHOSTDOWN);
	close(fd);
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_int_equal(stub->status_asked_before_boot, 0);
	give_all_back();
}

/* The library that has no call but IHK's. */
static void become_ihk(void)
{
	static struct ihk_library itself;
	static char device[256];

	itself = *ihk;
	itself.os_set_owner = NULL;
	ihk = &itself;
	stub->is_ihk = true;
	snprintf(device, sizeof(device), "%s", unit_file("mcos0", "a device"));
	device[strlen(device) - 1] = '\0';
	ihk_device_prefix = device;
}

static void page_table_isolation(void **state)
{
	static const char path[] = "sys/devices/system/cpu/vulnerabilities/meltdown";

	files_root = unit_dir;
	unit_file(path, "Mitigation: PTI\n");
	assert_int_equal(ihk_check_isolation(&err), 0);
	become_ihk();
	assert_int_equal(ihk_check_isolation(&err), -1);
	assert_has(err.text, "found it on (Mitigation: PTI)");
	assert_has(err.text, "boot with pti=off");
	unit_file(path, "Vulnerable\n");
	assert_int_equal(ihk_check_isolation(&err), 0);
	unit_file(path, "Not affected\n");
	assert_int_equal(ihk_check_isolation(&err), 0);
}

struct kernel {
	Elf64_Ehdr header;
	Elf64_Phdr part;
};

/* A kernel for IHK with one part, at this address. */
static struct kernel kernel_at(uint64_t address)
{
	return (struct kernel){
		.header = {
			.e_ident = ELFMAG "\2\1\1",
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_entry = address + 16,
			.e_phoff = offsetof(struct kernel, part),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.part = {
			.p_type = PT_LOAD,
			.p_vaddr = address,
			.p_filesz = sizeof(struct kernel),
			.p_memsz = sizeof(struct kernel),
		},
	};
}

static int load(int os, const struct kernel *kernel, size_t size)
{
	return driver->load(dev, os, kernel, size);
}

static void images_that_would_end_linux(void **state)
{
	const uint64_t start = 0xfffffffffe800000;
	struct kernel good = kernel_at(start), bad;
	int os;

	become_ihk();
	os = make_instance();
	assert_int_equal(load(os, &good, sizeof(good)), 0);
	assert_int_equal(load(os, &good, sizeof(good.header)), -ENOEXEC);
	assert_int_equal(load(os, &good, 4), -ENOEXEC);
	bad = kernel_at(start - 4096);
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	/* The bundled LWK, and a program. */
	bad = kernel_at(0xffffffff80000000);
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	bad = kernel_at(0x400000);
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	bad = good;
	bad.header.e_type = ET_DYN;
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	bad = good;
	bad.header.e_phnum = 2;
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	bad = good;
	bad.header.e_phoff = UINT64_MAX;
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	bad = good;
	bad.part.p_memsz = UINT64_MAX;
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	bad = good;
	bad.part.p_offset = UINT64_MAX;
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	bad = good;
	bad.part.p_type = PT_NOTE;
	assert_int_equal(load(os, &bad, sizeof(bad)), -ENOEXEC);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

static void removing_what_nothing_has_booted(void **state)
{
	struct kernel kernel = kernel_at(0xfffffffffe800000);
	int os;

	become_ihk();
	os = make_instance();
	assert_int_equal(driver->load(dev, os, "no", 2), -ENOEXEC);
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_false(stub->os[os].exists);
	give_all_back();

	os = make_instance();
	assert_int_equal(load(os, &kernel, sizeof(kernel)), 0);
	assert_int_equal(driver->boot(dev, os, "", 5000), 0);
	assert_int_equal(driver->shutdown(dev, os), 0);
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_false(stub->os[os].exists);
	give_all_back();
}

static void a_second_lwk_that_ihk_does_not_boot(void **state)
{
	int os;

	become_ihk();
	os = make_instance();
	assert_int_equal(driver->boot(dev, os, "", 5000), 0);
	assert_int_equal(driver->create(dev, JOB + 1, 1000, true, false), -ENOSPC);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();

	/* Another program's LWK runs: without Linux's end, the job's cannot be removed. */
	os = make_instance();
	assert_int_equal(ihk_create_os(0), os + 1);
	stub->os[os + 1].booted = true;
	assert_int_equal(driver->destroy(dev, os), -EBUSY);
	assert_true(stub->os[os].exists);
	stub->os[os + 1].exists = false;
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

static void an_lwk_that_panics(void **state)
{
	char prefix[512], device[520];
	pid_t proxy;
	int os, status, fd;

	if (geteuid() != 0)
		skip();
	os = make_instance();
	snprintf(prefix, sizeof(prefix), "%s/mcos", unit_dir);
	snprintf(device, sizeof(device), "%s%d", prefix, os);
	assert_int_equal(mknod(device, S_IFCHR | 0600, makedev(1, 3)), 0);
	ihk_device_prefix = prefix;
	ihk_guard_ms = 1;
	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	proxy = start_proxy(device, 1000);
	snprintf(device, sizeof(device), IHK_DEVICE_PREFIX "%d", os);
	fd = watching_ihk.open(device);
	assert_true(fd >= 0);
	stub->os[os].status = IHK_STATUS_PANIC;
	assert_int_equal(watching_ihk.guard(fd), 1);
	assert_int_equal(waitpid(proxy, &status, 0), proxy);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_int_equal(watching_ihk.guard(fd), 0);
	close(fd);
	give_all_back();
}

/* The state is asked twice when the console has new text, and not at each look. */
static void an_lwk_that_says_nothing(void **state)
{
	char device[64];
	int os = make_instance(), fd, asked, status;
	pid_t guard;

	ihk_guard_ms = 1;
	assert_int_equal(driver->boot(dev, os, "", 1000), 0);
	snprintf(device, sizeof(device), IHK_DEVICE_PREFIX "%d", os);
	fd = watching_ihk.open(device);
	assert_true(fd >= 0);
	asked = stub->status_asked;
	guard = fork();
	if (!guard)
		_exit(watching_ihk.guard(fd));
	while (stub->kmsg_read < 20)
		usleep(1000);
	assert_int_equal(stub->status_asked, asked + 2);
	assert_int_equal(driver->destroy(dev, os), 0);
	assert_int_equal(waitpid(guard, &status, 0), guard);
	assert_int_equal(status, 0);
	close(fd);
	give_all_back();
}

static void dumps(void **state)
{
	struct core_source source = { driver, dev, 0, JOB };
	char path[512], left[520];
	int os = make_instance();

	source.instance = os;
	snprintf(path, sizeof(path), "%s/dump", unit_dir);
	assert_int_equal(core_file_write(&source, AT_FDCWD, path), -ENODATA);
	assert_int_equal(driver->boot(dev, os, "", 5000), 0);
	source.job_id = JOB + 1;
	assert_int_equal(core_file_write(&source, AT_FDCWD, path), -ENOENT);
	source.job_id = JOB;
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(core_file_write(&source, AT_FDCWD, path), 0);
	assert_string_equal(unit_read("dump"), "a dump of 0");
	assert_int_equal(core_file_write(&source, AT_FDCWD, path), -EEXIST);
	assert_string_equal(unit_read("dump"), "a dump of 0");
	/* A directory beside it, which a process that was killed has left. */
	assert_int_equal(unlink(path), 0);
	snprintf(left, sizeof(left), "%s.d", path);
	assert_int_equal(mkdir(left, 0700), 0);
	unit_file("dump.d/core", "a part");
	assert_int_equal(core_file_write(&source, AT_FDCWD, path), -EEXIST);
	core_file_discard(AT_FDCWD, path);
	assert_int_equal(access(left, F_OK), -1);
	assert_int_equal(core_file_write(&source, AT_FDCWD, path), 0);
	/* A link that somebody has put there. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
	assert_int_equal(core_file_write(&source, AT_FDCWD, path), -EEXIST);
	snprintf(path, sizeof(path), "%s/elsewhere", unit_dir);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

static void hear_of(enum driver_level level, const char *subject, const char *to_do,
		    const char *text, void *context)
{
	if (strstr(text, "which no LWK job has made"))
		snprintf(context, 512, "%s: %s", text, to_do);
}

static void checking_what_is_left(void **state)
{
	char heard[512] = "";
	int os = make_instance();

	assert_int_equal(ihk_create_os(0), os + 1);
	driver->check(hear_of, heard);
	assert_has(heard, "has the instance 1,");
	assert_has(heard,
		   "'ihkosctl 1 boot', which fails but is needed, and 'ihkconfig 0 destroy 1'");
	ihk_destroy_os(0, os + 1);
	*heard = '\0';
	driver->check(hear_of, heard);
	assert_string_equal(heard, "");
	assert_int_equal(driver->destroy(dev, os), 0);
	give_all_back();
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_whole_life),
		TEST(libraries_that_will_not_do),
		TEST(nonsense_in_the_middle),
		TEST(memory_that_comes_in_parts),
		TEST(memory_of_the_dead),
		TEST(lwks_that_do_not_boot),
		TEST(lwks_that_boot_late),
		TEST(lwks_that_linux_cannot_boot),
		TEST(lwks_that_nobody_boots),
		TEST(shutdowns_that_hang),
		TEST(proxies_end_before_the_lwk),
		TEST(memory_that_ihk_does_not_take_back),
		TEST(consoles_of_instances_that_are_gone),
		TEST(what_is_not_the_jobs),
		TEST(instances_that_others_remove),
		TEST(freezing),
		TEST(freezing_what_ends),
		TEST(page_table_isolation),
		TEST(images_that_would_end_linux),
		TEST(removing_what_nothing_has_booted),
		TEST(a_second_lwk_that_ihk_does_not_boot),
		TEST(an_lwk_that_panics),
		TEST(an_lwk_that_says_nothing),
		TEST(dumps),
		TEST(checking_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
