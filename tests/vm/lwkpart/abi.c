// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests lwkpart.ko through /dev/lwkpart alone: every ioctl with good and with bad
 * arguments, the life of an instance, LWKs that panic or hang, and what is left when
 * the program that lent things is killed.
 *
 *	lwkpart-abi IMAGE
 *
 * IMAGE is the bundled LWK. Needs root, the module loaded with nothing lent, two
 * CPUs beside CPU 0, and about 512 MB that Linux can spare. Prints TAP; exit status 0
 * when every check passed. It leaves the machine as it was, whatever happens.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define CONTIG_BYTES (64UL << 20)
#define MAX_LEDGER 1024
#define JOB 4711

static int device = -1;
static unsigned int checks, failures;
static unsigned int cpu_a, cpu_b; /* the two CPUs that are lent */
static unsigned int node;	  /* their NUMA node, and that of the memory */

/* ---- TAP ---- */

static bool check(bool passed, const char *format, ...)
{
	va_list arguments;

	printf("%s %u - ", passed ? "ok" : "not ok", ++checks);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	failures += !passed;
	return passed;
}

static const char *error_name(int error)
{
	return error ? strerrorname_np(error) : "success";
}

/* Checks that an ioctl ended as wanted: 0 or an errno. */
static bool check_result(int got, int wanted, const char *what)
{
	bool passed = check(got == wanted, "%s: %s", what, error_name(wanted));

	if (!passed)
		printf("# got %s\n", error_name(got));
	return passed;
}

static void bail_out(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

/* ---- the ioctls; all give 0 or an errno ---- */

static int call(unsigned long command, void *argument)
{
	return ioctl(device, command, argument) ? errno : 0;
}

static int lend_cpu(unsigned int cpu)
{
	struct lwkpart_cpu request = { .cpu = cpu };

	return call(LWKPART_LEND_CPU, &request);
}

static int return_cpu(unsigned int cpu)
{
	struct lwkpart_cpu request = { .cpu = cpu };

	return call(LWKPART_RETURN_CPU, &request);
}

/* Lends CONTIG memory; its address goes to *start. */
static int lend_contig(__u64 *start, __u64 size)
{
	struct lwkpart_mem request = { .size = size, .node = node, .kind = LWKPART_MEM_CONTIG };
	int error = call(LWKPART_LEND_MEM, &request);

	*start = request.start;
	return error;
}

static int lend_block(__u64 start, __u64 size)
{
	struct lwkpart_mem request = {
		.start = start, .size = size, .node = node, .kind = LWKPART_MEM_BLOCK
	};

	return call(LWKPART_LEND_MEM, &request);
}

static int return_memory(__u64 start, __u64 size)
{
	struct lwkpart_mem request = { .start = start, .size = size };

	return call(LWKPART_RETURN_MEM, &request);
}

static int create(__u32 *instance)
{
	struct lwkpart_create request = { .uid = getuid(), .job_id = JOB };
	int error = call(LWKPART_CREATE, &request);

	*instance = request.instance;
	return error;
}

static int assign_cpu(__u32 instance, unsigned int cpu)
{
	struct lwkpart_assign_cpu request = { .instance = instance, .cpu = cpu };

	return call(LWKPART_ASSIGN_CPU, &request);
}

static int assign_memory(__u32 instance, __u64 start, __u64 size)
{
	struct lwkpart_assign_mem request = { .instance = instance, .start = start, .size = size };

	return call(LWKPART_ASSIGN_MEM, &request);
}

static int load(__u32 instance, const void *image, size_t size)
{
	struct lwkpart_load request = { .instance = instance,
					.image = (unsigned long)image,
					.size = size };

	return call(LWKPART_LOAD, &request);
}

static int boot(__u32 instance, unsigned int timeout_ms)
{
	struct lwkpart_boot request = { .instance = instance, .timeout_ms = timeout_ms };

	return call(LWKPART_BOOT, &request);
}

static int shut_down(__u32 instance)
{
	struct lwkpart_instance_op request = { .instance = instance };

	return call(LWKPART_SHUTDOWN, &request);
}

static int destroy(__u32 instance)
{
	struct lwkpart_instance_op request = { .instance = instance };

	return call(LWKPART_DESTROY, &request);
}

static struct lwkpart_instance_info get_instance(__u32 instance)
{
	struct lwkpart_instance_info info = { .instance = instance };

	if (call(LWKPART_GET_INSTANCE, &info))
		info.state = LWK_STATE_COUNT;
	return info;
}

static bool has_state(__u32 instance, enum lwk_state state)
{
	return get_instance(instance).state == state;
}

static struct lwkpart_info get_info(void)
{
	struct lwkpart_info info = { 0 };

	if (call(LWKPART_GET_INFO, &info))
		bail_out("LWKPART_GET_INFO failed");
	return info;
}

static struct lwkpart_ledger_entry ledger[MAX_LEDGER];

static unsigned int get_ledger(void)
{
	struct lwkpart_ledger request = { .entries = (unsigned long)ledger,
					  .capacity = MAX_LEDGER };

	if (call(LWKPART_GET_LEDGER, &request) || request.count > MAX_LEDGER)
		bail_out("LWKPART_GET_LEDGER failed");
	return request.count;
}

/* ---- sysfs ---- */

/* Writes a word to a file; 0 or an errno. */
static int write_file(const char *path, const char *word)
{
	int fd = open(path, O_WRONLY);
	int error = fd < 0 || write(fd, word, strlen(word)) < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

static void read_file(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");

	text[0] = 0;
	if (file) {
		if (!fgets(text, size, file))
			text[0] = 0;
		fclose(file);
	}
}

static int set_block(__u64 start, const char *state)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/memory/memory%llu/state",
		 (unsigned long long)(start / get_info().block_bytes));
	return write_file(path, state);
}

static bool cpu_is_online(unsigned int cpu)
{
	char path[64], text[8];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	read_file(path, text, sizeof(text));
	return text[0] == '1';
}

static int set_cpu(unsigned int cpu, const char *online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return write_file(path, online);
}

static int node_of_cpu(unsigned int cpu)
{
	char path[64];
	struct dirent *entry;
	int result = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (sscanf(entry->d_name, "node%d", &result) == 1)
			break;
	if (directory)
		closedir(directory);
	return result;
}

/* Takes a memory block of 'node' off-line; its address, or 0 when none can go. */
static __u64 offline_block(void)
{
	unsigned long number, highest = 0, found = 0;
	char path[64], state[16];
	struct dirent *entry;
	DIR *directory;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u", node);
	directory = opendir(path);
	while (directory && (entry = readdir(directory)))
		if (sscanf(entry->d_name, "memory%lu", &number) == 1 && number > highest)
			highest = number;
	if (directory)
		closedir(directory);
	/* Not the highest: the last block of a node rarely goes. */
	for (number = highest; number-- > 1 && number + 16 > highest && !found;) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/memory%lu/state",
			 node, number);
		read_file(path, state, sizeof(state));
		if (!strcmp(state, "online\n") && !write_file(path, "offline"))
			found = number;
	}
	return found * get_info().block_bytes;
}

/* ---- undoing everything from the ledger ---- */

/* Gives back all that is lent; true when nothing is left. */
static bool undo(void)
{
	unsigned int count, i;
	__u64 block, at;

	for (i = 0; i < LWKPART_MAX_INSTANCES; i++)
		destroy(i);
	count = get_ledger();
	block = get_info().block_bytes;
	for (i = 0; i < count; i++) {
		const struct lwkpart_ledger_entry *entry = &ledger[i];

		if (entry->kind == 0) {
			return_cpu(entry->cpu);
			continue;
		}
		return_memory(entry->start, entry->size);
		for (at = entry->start;
		     entry->kind == LWKPART_MEM_BLOCK && at < entry->start + entry->size;
		     at += block)
			set_block(at, "online");
	}
	return get_ledger() == 0 && get_info().instances == 0;
}

static void undo_at_exit(void)
{
	if (device >= 0)
		undo();
}

/* ---- images ---- */

/*
 * LWKs of a few instructions. They are never run here, only copied into an image; what
 * they get in RDI and RSI is in lwkshared.h.
 */
__asm__(".pushsection .rodata\n"
	"spinning_lwk:\n"
	"	jmp spinning_lwk\n"
	"spinning_lwk_end:\n"
	".popsection\n");
extern const char spinning_lwk[], spinning_lwk_end[];
extern const char panicking_lwk[], panicking_lwk_end[];

__attribute__((used)) static void code_of_panicking_lwk(void)
{
	__asm__ volatile(".pushsection .rodata\n"
			 "panicking_lwk:\n"
			 "	mov %c0(%%rdi), %%rax\n"
			 "	movabs %1, %%rcx\n"
			 "	movl %3, %c2(%%rax, %%rcx)\n"
			 "	movl %5, %c4(%%rax, %%rcx)\n"
			 "1:	hlt\n"
			 "	jmp 1b\n"
			 "panicking_lwk_end:\n"
			 ".popsection\n" ::"i"(offsetof(struct lwk_boot_params, status)),
			 "i"(LWK_DIRECT_MAP), "i"(offsetof(struct lwk_status, message)),
			 "i"('o' | 'h' << 8 | '\033' << 16), /* an escape has no place in a log */
			 "i"(offsetof(struct lwk_status, state)), "i"(LWK_STATE_PANIC));
}

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char code[64];
};

static struct image make_image(const char *code, const char *end)
{
	struct image image = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = LWK_IMAGE_BASE,
			.e_phoff = offsetof(struct image, segment),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = offsetof(struct image, code),
			.p_vaddr = LWK_IMAGE_BASE,
			.p_filesz = end - code,
			.p_memsz = end - code,
		},
	};

	memcpy(image.code, code, end - code);
	return image;
}

/* Reads a whole file; the caller frees it. */
static char *read_image(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat status;
	char *image;

	if (fd < 0 || fstat(fd, &status))
		bail_out("cannot read the LWK image given as argument");
	image = malloc(status.st_size);
	if (!image || read(fd, image, status.st_size) != status.st_size)
		bail_out("cannot read the LWK image given as argument");
	close(fd);
	*size = status.st_size;
	return image;
}

/* ---- the tests ---- */

static const struct command {
	const char *name;
	unsigned long number;
} commands[] = {
	{ "GET_INFO", LWKPART_GET_INFO },
	{ "LEND_CPU", LWKPART_LEND_CPU },
	{ "RETURN_CPU", LWKPART_RETURN_CPU },
	{ "LEND_MEM", LWKPART_LEND_MEM },
	{ "RETURN_MEM", LWKPART_RETURN_MEM },
	{ "CREATE", LWKPART_CREATE },
	{ "DESTROY", LWKPART_DESTROY },
	{ "ASSIGN_CPU", LWKPART_ASSIGN_CPU },
	{ "ASSIGN_MEM", LWKPART_ASSIGN_MEM },
	{ "LOAD", LWKPART_LOAD },
	{ "BOOT", LWKPART_BOOT },
	{ "SHUTDOWN", LWKPART_SHUTDOWN },
	{ "GET_INSTANCE", LWKPART_GET_INSTANCE },
	{ "GET_LEDGER", LWKPART_GET_LEDGER },
	{ "KMSG", LWKPART_KMSG },
	{ "HANG_LIMIT", LWKPART_HANG_LIMIT },
	{ "DUMP_LAYOUT", LWKPART_DUMP_LAYOUT },
	{ "DUMP", LWKPART_DUMP },
	{ "MOVE", LWKPART_MOVE },
};

/* As nobody: what open() and each ioctl on root's file say. The exit status counts faults. */
static int be_nobody(void)
{
	char argument[1024] = { 0 };
	int faults = 0;
	size_t i;

	if (setgid(65534) || setuid(65534))
		return 1;
	faults += open(LWKPART_DEVICE, O_RDWR) >= 0 || errno != EACCES;
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		faults += call(commands[i].number, argument) != EPERM;
	return faults;
}

static void test_permission(void)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(be_nobody());
	waitpid(child, &status, 0);
	check(status == 0, "nobody can neither open the device nor use a file that root opened");
}

static void test_commands(void)
{
	char name[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(name, sizeof(name), "%s without an argument", commands[i].name);
		check_result(call(commands[i].number, NULL), EFAULT, name);
	}
	check_result(call(_IO(LWKPART_IOC, 0x7f), NULL), ENOTTY, "an unknown command");
	check_result(call(_IOW(LWKPART_IOC, 0x01, __u64[2]), NULL), ENOTTY,
		     "LEND_CPU with a structure of another size");
}

/* One call with a bad argument. */
struct bad_call {
	const char *what;
	unsigned long command;
	int wanted;
	union {
		struct lwkpart_cpu cpu;
		struct lwkpart_mem mem;
		struct lwkpart_create create;
		struct lwkpart_assign_cpu assign_cpu;
		struct lwkpart_assign_mem assign_mem;
		struct lwkpart_load load;
		struct lwkpart_boot boot;
		struct lwkpart_instance_op op;
		struct lwkpart_instance_info info;
		struct lwkpart_ledger ledger;
		struct lwkpart_kmsg kmsg;
		struct lwkpart_hang_limit hang_limit;
		struct lwkpart_dump_layout dump_layout;
		struct lwkpart_dump dump;
		struct lwkpart_confine confine;
	};
};

static void run_bad_calls(struct bad_call *calls, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		check_result(call(calls[i].command, &calls[i].cpu), calls[i].wanted, calls[i].what);
}

#define RUN_BAD_CALLS(calls) run_bad_calls(calls, ARRAY_SIZE(calls))

static void test_bad_lend(void)
{
	__u64 block = get_info().block_bytes;
	struct bad_call calls[] = {
		{ "LEND_CPU with a flag", LWKPART_LEND_CPU, EINVAL, .cpu = { cpu_a, 1 } },
		{ "LEND_CPU of CPU 0", LWKPART_LEND_CPU, EPERM, .cpu = { 0 } },
		{ "LEND_CPU of no CPU", LWKPART_LEND_CPU, ENODEV, .cpu = { 100000 } },
		{ "LEND_CPU of CPU -1", LWKPART_LEND_CPU, ENODEV, .cpu = { -1U } },
		{ "RETURN_CPU with a flag", LWKPART_RETURN_CPU, EINVAL, .cpu = { cpu_a, 1 } },
		{ "RETURN_CPU of a CPU that is not lent", LWKPART_RETURN_CPU, ENOENT,
		  .cpu = { cpu_a } },
		{ "LEND_MEM of no kind", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .size = CONTIG_BYTES, .node = node } },
		{ "LEND_MEM of an unknown kind", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .size = CONTIG_BYTES, .node = node, .kind = 3 } },
		{ "LEND_MEM with a reserved field", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .size = CONTIG_BYTES, .node = node, .kind = 2, .reserved = 1 } },
		{ "LEND_MEM of nothing", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .node = node, .kind = LWKPART_MEM_CONTIG } },
		{ "LEND_MEM of a piece of a large page", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .size = 4096, .node = node, .kind = LWKPART_MEM_CONTIG } },
		{ "LEND_MEM on no node", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .size = CONTIG_BYTES, .node = 1000, .kind = LWKPART_MEM_CONTIG } },
		{ "LEND_MEM on node -1", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .size = CONTIG_BYTES, .node = -1U, .kind = LWKPART_MEM_CONTIG } },
		{ "LEND_MEM of more than there is", LWKPART_LEND_MEM, ENOMEM,
		  .mem = { .size = 1UL << 50, .node = node, .kind = LWKPART_MEM_CONTIG } },
		{ "LEND_MEM of half a block", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .start = block / 2, .size = block, .node = node, .kind = 1 } },
		{ "LEND_MEM of a range that wraps", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .start = -block, .size = 2 * block, .node = node, .kind = 1 } },
		{ "LEND_MEM of an address that no CPU has", LWKPART_LEND_MEM, EINVAL,
		  .mem = { .start = 1UL << 62, .size = block, .node = node, .kind = 1 } },
		{ "RETURN_MEM with a reserved field", LWKPART_RETURN_MEM, EINVAL,
		  .mem = { .size = CONTIG_BYTES, .reserved = 1 } },
		{ "RETURN_MEM of what is not lent", LWKPART_RETURN_MEM, ENOENT,
		  .mem = { .start = 0, .size = CONTIG_BYTES } },
	};

	RUN_BAD_CALLS(calls);
}

static void test_bad_instance(void)
{
	struct bad_call calls[] = {
		{ "CREATE with a flag", LWKPART_CREATE, EINVAL, .create = { .flags = 2 } },
		{ "CREATE for user -1", LWKPART_CREATE, EINVAL, .create = { .uid = -1U } },
		{ "DESTROY with a flag", LWKPART_DESTROY, EINVAL, .op = { 0, 1 } },
		{ "DESTROY of no instance", LWKPART_DESTROY, ENOENT, .op = { 0 } },
		{ "DESTROY of instance 64", LWKPART_DESTROY, ENOENT, .op = { 64 } },
		{ "DESTROY of instance -1", LWKPART_DESTROY, ENOENT, .op = { -1U } },
		{ "SHUTDOWN with a flag", LWKPART_SHUTDOWN, EINVAL, .op = { 0, 1 } },
		{ "SHUTDOWN of no instance", LWKPART_SHUTDOWN, ENOENT, .op = { 0 } },
		{ "ASSIGN_CPU with a flag", LWKPART_ASSIGN_CPU, EINVAL,
		  .assign_cpu = { .flags = 1 } },
		{ "ASSIGN_CPU to no instance", LWKPART_ASSIGN_CPU, ENOENT, .assign_cpu = { 0 } },
		{ "ASSIGN_MEM with a flag", LWKPART_ASSIGN_MEM, EINVAL,
		  .assign_mem = { .flags = 1 } },
		{ "ASSIGN_MEM to no instance", LWKPART_ASSIGN_MEM, ENOENT, .assign_mem = { 0 } },
		{ "LOAD with a flag", LWKPART_LOAD, EINVAL, .load = { .flags = 1 } },
		{ "LOAD into no instance", LWKPART_LOAD, ENOENT, .load = { 0 } },
		{ "BOOT with a reserved field", LWKPART_BOOT, EINVAL,
		  .boot = { .timeout_ms = 1, .reserved = { 0, 1 } } },
		{ "BOOT without a time-out", LWKPART_BOOT, EINVAL, .boot = { 0 } },
		{ "BOOT with a time-out of 49 days", LWKPART_BOOT, EINVAL,
		  .boot = { .timeout_ms = -1U } },
		{ "BOOT of no instance", LWKPART_BOOT, ENOENT, .boot = { .timeout_ms = 1 } },
		{ "GET_INSTANCE of no instance", LWKPART_GET_INSTANCE, ENOENT, .info = { 0 } },
		{ "GET_LEDGER with a reserved field", LWKPART_GET_LEDGER, EINVAL,
		  .ledger = { .reserved = 1 } },
		{ "KMSG with a flag", LWKPART_KMSG, EINVAL, .kmsg = { .flags = 1 } },
		{ "KMSG of no instance", LWKPART_KMSG, ENOENT, .kmsg = { 0 } },
		{ "HANG_LIMIT of less than a second", LWKPART_HANG_LIMIT, EINVAL,
		  .hang_limit = { .limit_ms = 999 } },
		{ "HANG_LIMIT of no instance", LWKPART_HANG_LIMIT, ENOENT,
		  .hang_limit = { .limit_ms = 1000 } },
		{ "DUMP_LAYOUT of no instance", LWKPART_DUMP_LAYOUT, ENOENT, .dump_layout = { 0 } },
		{ "DUMP of no instance", LWKPART_DUMP, ENOENT, .dump = { 0 } },
		{ "DUMP of more than 1 MB", LWKPART_DUMP, EINVAL,
		  .dump = { .size = LWKPART_MAX_DUMP + 1 } },
		{ "DUMP with a reserved field", LWKPART_DUMP, EINVAL, .dump = { .reserved = 1 } },
		{ "CONFINE with a reserved field", LWKPART_CONFINE, EINVAL,
		  .confine = { .reserved = 1 } },
		{ "CONFINE to more cgroups than can be", LWKPART_CONFINE, EINVAL,
		  .confine = { .count = LWKPART_MAX_GROUPS + 1 } },
		{ "CONFINE to -1 cgroups", LWKPART_CONFINE, EINVAL, .confine = { .count = -1U } },
		{ "CONFINE of no instance", LWKPART_CONFINE, ENOENT, .confine = { 0 } },
	};
	struct bad_call endless = { "BOOT with an endless command line", LWKPART_BOOT, EINVAL,
				    .boot = { .timeout_ms = 1 } };

	memset(endless.boot.cmdline, 'a', sizeof(endless.boot.cmdline));
	RUN_BAD_CALLS(calls);
	run_bad_calls(&endless, 1);
}

static void test_instances(void)
{
	__u32 instance, last = 0, i;

	for (i = 0; i < LWKPART_MAX_INSTANCES && !create(&instance); i++)
		last = instance;
	check(i == LWKPART_MAX_INSTANCES && last == i - 1, "%u instances can be made", i);
	check_result(create(&instance), ENOSPC, "CREATE of one more");
	check(get_info().instances == LWKPART_MAX_INSTANCES, "GET_INFO counts them");
	check_result(destroy(5), 0, "DESTROY of one");
	check(!create(&instance) && instance == 5, "its number is used again");
	check(has_state(5, LWK_STATE_CREATED), "a new instance is CREATED");
	check_result(load(5, "", 1), EBUSY, "LOAD into an instance that has nothing");
	check_result(boot(5, 1), EBUSY, "BOOT of an instance that has nothing");
	check_result(shut_down(5), 0, "SHUTDOWN of an instance that has nothing");
	check_result(assign_cpu(5, cpu_a), EBUSY, "ASSIGN_CPU to an instance that is shut down");
	check(undo(), "all of them can be destroyed");
}

static int call_instance(int fd, unsigned long command, void *argument)
{
	return ioctl(fd, command, argument) ? errno : 0;
}

static void test_bad_watching(int fd)
{
	struct lwk_usage usage = { .capacity = 1 << 20 };
	struct lwkpart_kmsg kmsg = { .instance = 1 };
	struct lwk_freeze freeze = { .frozen = 2, .timeout_ms = 1 };

	check_result(call_instance(fd, LWK_GET_USAGE, &usage), ENODATA, "GET_USAGE of nothing");
	usage.capacity = 0;
	check_result(call_instance(fd, LWK_GET_USAGE, &usage), ENOSPC, "GET_USAGE without room");
	check(usage.length == LWK_STATUS_BYTES(0), "it tells how much it needs");
	usage.reserved[1] = 1;
	check_result(call_instance(fd, LWK_GET_USAGE, &usage), EINVAL,
		     "GET_USAGE with a reserved field");
	check_result(call_instance(fd, LWK_KMSG, &kmsg), EINVAL, "KMSG of another instance");
	kmsg.instance = 0;
	check_result(call_instance(fd, LWK_KMSG, &kmsg), 0, "KMSG of an instance without console");
	check(kmsg.length == 0, "it has no text");
	check_result(call_instance(fd, LWK_FREEZE, &freeze), EINVAL, "FREEZE to state 2");
	freeze = (struct lwk_freeze){ .frozen = 1 };
	check_result(call_instance(fd, LWK_FREEZE, &freeze), EINVAL, "FREEZE without a time-out");
	freeze.timeout_ms = 60001;
	check_result(call_instance(fd, LWK_FREEZE, &freeze), EINVAL, "FREEZE for too long");
	freeze.timeout_ms = 1;
	check_result(call_instance(fd, LWK_FREEZE, &freeze), EHOSTDOWN,
		     "FREEZE of an instance that does not run");
}

static void test_bad_counters(int fd)
{
	static const struct {
		const char *what;
		struct lwk_counters request;
	} bad[] = {
		{ "COUNTERS without a command", { .command = 4 } },
		{ "COUNTERS: more than there can be",
		  { .command = LWK_COUNTERS_SET, .count = 17 } },
		{ "COUNTERS: -1 of them", { .command = LWK_COUNTERS_SET, .count = -1U } },
		{ "COUNTERS of no kind",
		  { .command = LWK_COUNTERS_SET, .count = 1, .counters = { { .kind = 3 } } } },
		{ "COUNTERS of what is not counted",
		  { .command = LWK_COUNTERS_SET,
		    .count = 1,
		    .counters = { { .number = LWK_COUNTS } } } },
		{ "COUNTERS with a reserved field",
		  { .command = LWK_COUNTERS_SET, .count = 1, .counters = { { .reserved = 1 } } } },
		{ "COUNTERS that shall interrupt",
		  { .command = LWK_COUNTERS_SET,
		    .count = 1,
		    .counters = { { .kind = LWK_COUNTER_GENERAL, .select = 1 << 20 } } } },
		{ "COUNTERS, of which the last is bad",
		  { .command = LWK_COUNTERS_SET,
		    .count = 2,
		    .counters = { { 0 }, { .kind = LWK_COUNTER_FIXED, .number = 32 } } } },
	};
	struct lwk_counters request;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		request = bad[i].request;
		check_result(call_instance(fd, LWK_COUNTERS, &request), EINVAL, bad[i].what);
	}
	request = (struct lwk_counters){ .command = LWK_COUNTERS_SET, .count = 1 };
	check_result(call_instance(fd, LWK_COUNTERS, &request), EHOSTDOWN,
		     "COUNTERS of an instance that does not run");
	request = (struct lwk_counters){ .count = 5 };
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS to be got");
	check(!request.count && !request.running && !request.order, "there are none");
}

static void test_eventfds(int fd, __u32 instance)
{
	struct lwk_instance_details details;
	struct lwk_eventfd request = { .fd = -1 };
	unsigned int i;
	__u64 count = 0;

	check_result(call_instance(fd, LWK_EVENTFD, &request), EBADF, "EVENTFD of no file");
	request.fd = fd;
	check_result(call_instance(fd, LWK_EVENTFD, &request), EINVAL, "EVENTFD of another file");
	request.fd = eventfd(0, EFD_NONBLOCK);
	request.event = LWK_EVENTS;
	check_result(call_instance(fd, LWK_EVENTFD, &request), EINVAL, "EVENTFD of no event");
	request.event = LWK_EVENT_STATE;
	for (i = 0; i < LWK_MAX_EVENTFDS && !call_instance(fd, LWK_EVENTFD, &request); i++)
		request.event = LWK_EVENT_PANIC;
	check(i == LWK_MAX_EVENTFDS, "EVENTFD, %u times", i);
	check_result(call_instance(fd, LWK_EVENTFD, &request), ENOSPC, "EVENTFD once more");
	check(read(request.fd, &count, sizeof(count)) < 0, "nothing has happened yet");
	shut_down(instance);
	check(read(request.fd, &count, sizeof(count)) == sizeof(count) && count == 1,
	      "a new state is one event");
	check_result(call_instance(fd, LWK_GET_DETAILS, &details), 0, "GET_DETAILS");
	check(details.state == LWK_STATE_SHUTDOWN && details.job_id == JOB && details.since_ns > 0,
	      "it tells state, job and since when");
	check_result(destroy(instance), 0, "DESTROY while it is watched");
	check_result(call_instance(fd, LWK_GET_DETAILS, &details), 0, "GET_DETAILS afterwards");
	close(request.fd);
}

static void test_watching(void)
{
	char path[32];
	__u32 instance;
	int fd;

	check_result(create(&instance), 0, "CREATE");
	snprintf(path, sizeof(path), LWK_DEVICE_DIR "/%u", instance);
	fd = open(path, O_RDWR);
	if (!check(fd >= 0, "%s can be opened", path))
		return;
	test_bad_watching(fd);
	test_bad_counters(fd);
	test_eventfds(fd, instance);
	close(fd);
}

static void test_confine(void)
{
	struct lwkpart_confine request = { .count = 1, .fds = { -1 } };

	check_result(create(&request.instance), 0, "CREATE");
	check_result(call(LWKPART_CONFINE, &request), EBADF, "CONFINE to no file");
	request.fds[0] = device;
	check_result(call(LWKPART_CONFINE, &request), EINVAL, "CONFINE to a file of no cgroup");
	request.count = 0;
	check_result(call(LWKPART_CONFINE, &request), 0, "CONFINE to nothing");
	check_result(destroy(request.instance), 0, "DESTROY");
}

/* ---- MOVE ---- */

#define MOVE_PAGES 512U
#define MOVE_ROUNDS 40

static char *move_memory;
static __u64 move_addresses[MOVE_PAGES];
static __s32 move_status[MOVE_PAGES];
static volatile bool move_over;

static int move_to(unsigned int where, __u32 count)
{
	struct lwkpart_move request = { .pid = getpid(),
					.node = where,
					.addresses = (uintptr_t)move_addresses,
					.status = (uintptr_t)move_status,
					.count = count };

	return call(LWKPART_MOVE, &request);
}

/* Returns what it was. While it is on, move_pages(2) finds no page that it looks after just now. */
static char balancing(char on)
{
	int fd = open("/proc/sys/kernel/numa_balancing", O_RDWR);
	char was = '0';

	if (fd >= 0 && (pread(fd, &was, 1, 0) != 1 || pwrite(fd, &on, 1, 0) != 1))
		was = '0';
	close(fd);
	return was;
}

/* Those that move_to() left; all pages are in the kernel's lists then. */
static void let_kernel_move(unsigned int where)
{
	int nodes[MOVE_PAGES], status[MOVE_PAGES];

	for (unsigned int i = 0; i < MOVE_PAGES; i++)
		nodes[i] = where;
	syscall(SYS_move_pages, 0, MOVE_PAGES, move_addresses, nodes, status, 2);
}

/* How many pages the kernel says are on a node. */
static unsigned int pages_on(unsigned int where)
{
	int nodes[MOVE_PAGES];
	unsigned int n = 0;

	syscall(SYS_move_pages, 0, MOVE_PAGES, move_addresses, NULL, nodes, 0);
	for (unsigned int i = 0; i < MOVE_PAGES; i++)
		n += nodes[i] == (int)where;
	return n;
}

static unsigned int count_status(__s32 wanted)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < MOVE_PAGES; i++)
		n += move_status[i] == wanted;
	return n;
}

/* Counts in every page, whatever becomes of it meanwhile. */
static void *count_on(void *rounds)
{
	for (; !move_over; ++*(unsigned long *)rounds)
		for (unsigned int i = 0; i < MOVE_PAGES; i++)
			++*(volatile unsigned long *)(move_memory + i * 4096UL);
	return NULL;
}

static void test_move_bad(void)
{
	struct lwkpart_move request = { .pid = getpid(),
					.addresses = (uintptr_t)move_addresses,
					.status = (uintptr_t)move_status,
					.count = MOVE_PAGES },
			    bad = request;

	bad.reserved = 1;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE with something in 'reserved'");
	bad = request;
	bad.count = 0;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE of nothing");
	bad.count = 65537;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE of too much");
	bad = request;
	bad.node = 99;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE to a node that is not there");
	bad.node = ~0U;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE to no node");
	bad = request;
	bad.pid = -1;
	check_result(call(LWKPART_MOVE, &bad), EINVAL, "MOVE of a negative process");
	bad.pid = 4194000;
	check_result(call(LWKPART_MOVE, &bad), ESRCH, "MOVE of no process");
	bad.pid = 2;
	check_result(call(LWKPART_MOVE, &bad), ESRCH, "MOVE of a kernel thread");
	bad = request;
	bad.addresses = 8;
	check_result(call(LWKPART_MOVE, &bad), EFAULT, "MOVE with a bad pointer");
	bad = request;
	bad.status = 8;
	check_result(call(LWKPART_MOVE, &bad), EFAULT, "MOVE with nowhere to tell");
	move_addresses[0]++;
	check_result(call(LWKPART_MOVE, &request), EINVAL, "MOVE of half a page");
	move_addresses[0] = 1ULL << 63;
	check_result(call(LWKPART_MOVE, &request), EINVAL, "MOVE of the kernel's memory");
	move_addresses[0] = (uintptr_t)move_memory;
}

static void test_move_kinds(void)
{
	unsigned int moved = 0;
	int ends[2], error = 0;
	char byte = 0;
	pid_t child;

	check_result(pipe(ends) ? errno : 0, 0, "pipe");
	let_kernel_move(node);
	child = fork();
	if (child == 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1));
	}
	close(ends[0]);
	check_result(move_to(0, MOVE_PAGES), 0, "MOVE of what a child has too");
	check(count_status(-EAGAIN) == MOVE_PAGES, "nothing of it moves");
	close(ends[1]);
	waitpid(child, NULL, 0);
	munmap(move_memory + 4096, 4096);
	mprotect(move_memory + 2 * 4096, 4096, PROT_NONE);
	/* A page that is just on its way into the kernel's lists is left out, too. */
	for (unsigned int i = 0; !error && moved <= MOVE_PAGES / 2 && i < MOVE_ROUNDS; i++) {
		let_kernel_move(node);
		error = move_to(0, MOVE_PAGES);
		moved = count_status(0);
	}
	check_result(error, 0, "MOVE with a hole");
	check(move_status[1] == -EAGAIN && move_status[2] == -EAGAIN && moved > MOVE_PAGES / 2,
	      "what is not there, or closed, is left out");
}

static void test_move(void)
{
	unsigned long counted = 0;
	unsigned int wrong = 0, moved = 0, i;
	char balanced = balancing('0');
	pthread_t thread;

	move_memory = mmap(NULL, MOVE_PAGES * 4096UL, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!check(move_memory != MAP_FAILED, "memory to move"))
		return;
	madvise(move_memory, MOVE_PAGES * 4096UL, MADV_NOHUGEPAGE);
	memset(move_memory, 0, MOVE_PAGES * 4096UL);
	for (i = 0; i < MOVE_PAGES; i++)
		move_addresses[i] = (uintptr_t)move_memory + i * 4096UL;
	test_move_bad();
	check_result(pthread_create(&thread, NULL, count_on, &counted), 0, "a thread");
	for (i = 0; i < MOVE_ROUNDS; i++) {
		unsigned int where = i % 2 ? node : 0;

		let_kernel_move(i % 2 ? 0 : node);
		if (move_to(where, MOVE_PAGES) || pages_on(where) < count_status(where))
			wrong++;
		moved += count_status(where);
	}
	move_over = true;
	pthread_join(thread, NULL);
	balancing(balanced);
	check(!wrong, "MOVE moves the pages that it says");
	/* A round may find many that are not in their list yet. */
	check(moved > MOVE_ROUNDS * MOVE_PAGES / 2, "MOVE moves most pages");
	for (i = wrong = 0; i < MOVE_PAGES; i++)
		wrong += *(unsigned long *)(move_memory + i * 4096UL) != counted;
	check(counted && !wrong, "no page loses what is written while it moves");
	test_move_kinds();
	munmap(move_memory, MOVE_PAGES * 4096UL);
}

static void test_cpus(void)
{
	check_result(lend_cpu(cpu_a), 0, "LEND_CPU");
	check(!cpu_is_online(cpu_a), "the CPU is off-line");
	check_result(lend_cpu(cpu_a), EALREADY, "LEND_CPU of a lent CPU");
	check_result(set_cpu(cpu_a, "1"), EBUSY, "a lent CPU cannot be put on-line");
	check_result(return_cpu(cpu_a), 0, "RETURN_CPU");
	check(cpu_is_online(cpu_a), "the CPU is on-line");
	check_result(set_cpu(cpu_a, "0"), 0, "a returned CPU can be put off-line");
	check_result(lend_cpu(cpu_a), ENODEV, "LEND_CPU of a CPU that is off-line");
	check_result(set_cpu(cpu_a, "1"), 0, "and put on-line again");
}

static void test_contig(void)
{
	__u64 start;

	if (!check_result(lend_contig(&start, CONTIG_BYTES), 0, "LEND_MEM CONTIG"))
		return;
	check(start && start % LWKPART_MEM_ALIGN == 0, "its address is one of a large page");
	check(get_ledger() == 1 && ledger[0].kind == LWKPART_MEM_CONTIG &&
		      ledger[0].start == start && ledger[0].size == CONTIG_BYTES &&
		      ledger[0].node == node && ledger[0].instance == LWKPART_NO_INSTANCE,
	      "GET_LEDGER shows it");
	check(get_info().lent_bytes == CONTIG_BYTES, "GET_INFO adds it up");
	check_result(return_memory(start, CONTIG_BYTES / 2), ENOENT, "RETURN_MEM of a half");
	check_result(return_memory(start, CONTIG_BYTES), 0, "RETURN_MEM");
	check_result(return_memory(start, CONTIG_BYTES), ENOENT, "RETURN_MEM twice");
}

static void test_block(void)
{
	__u64 block = get_info().block_bytes, start;
	struct lwkpart_mem wrong_node = { .size = block,
					  .node = node ? 0 : 1,
					  .kind = LWKPART_MEM_BLOCK };

	start = offline_block();
	if (!start) {
		check(true, "LEND_MEM BLOCK # SKIP no memory block of node %u goes off-line", node);
		return;
	}
	wrong_node.start = start;
	check_result(call(LWKPART_LEND_MEM, &wrong_node), EINVAL,
		     "LEND_MEM of a block with another node's number");
	check_result(lend_block(start, block), 0, "LEND_MEM BLOCK");
	check_result(lend_block(start, block), EEXIST, "LEND_MEM of a lent block");
	check_result(lend_block(start, 2 * block), EEXIST, "LEND_MEM of a lent block and the next");
	check_result(set_block(start, "online"), EBUSY, "a lent block cannot be put on-line");
	check_result(return_memory(start, block), 0, "RETURN_MEM of it");
	check_result(set_block(start, "online"), 0, "a returned block can be put on-line");
	check_result(lend_block(start, block), EBUSY, "LEND_MEM of a block that is on-line");
}

static void test_ledger(void)
{
	struct lwkpart_ledger request = { .entries = (unsigned long)ledger, .capacity = 1 };
	__u64 start;

	check(!lend_cpu(cpu_b) && !lend_contig(&start, CONTIG_BYTES) && !lend_cpu(cpu_a),
	      "two CPUs and a range are lent");
	memset(ledger, 0xff, sizeof(ledger));
	check_result(call(LWKPART_GET_LEDGER, &request), 0, "GET_LEDGER into too small a place");
	check(request.count == 3 && ledger[0].kind == 0 && ledger[1].kind == ~0U,
	      "it fills what is there and tells the full count");
	check(get_ledger() == 3 && ledger[0].cpu < ledger[1].cpu &&
		      ledger[2].kind == LWKPART_MEM_CONTIG,
	      "CPUs come first, in order");
	request.entries = 0;
	check_result(call(LWKPART_GET_LEDGER, &request), EFAULT, "GET_LEDGER to nowhere");
	check(undo(), "the ledger is all that is needed to undo it");
}

static bool can_unload(void)
{
	bool unloaded;

	/* An open file would keep the module too. */
	close(device);
	unloaded = syscall(SYS_delete_module, "lwkpart", O_NONBLOCK) == 0;
	device = open(LWKPART_DEVICE, O_RDWR | O_CLOEXEC);
	return unloaded;
}

/* What is lent for an instance with two CPUs. */
struct partition {
	__u32 instance;
	__u64 contig, block;
};

/* Lends and assigns; false, with a failed check, when something does not work. */
static bool set_up(struct partition *partition)
{
	__u64 block = get_info().block_bytes;

	partition->block = offline_block();
	return check(!lend_cpu(cpu_a) && !lend_cpu(cpu_b) &&
			     !lend_contig(&partition->contig, CONTIG_BYTES) &&
			     (!partition->block || !lend_block(partition->block, block)) &&
			     !create(&partition->instance) &&
			     !assign_cpu(partition->instance, cpu_a) &&
			     !assign_cpu(partition->instance, cpu_b) &&
			     !assign_memory(partition->instance, partition->contig, CONTIG_BYTES) &&
			     (!partition->block ||
			      !assign_memory(partition->instance, partition->block, block)) &&
			     has_state(partition->instance, LWK_STATE_ASSIGNED),
		     "two CPUs and memory are lent and assigned");
}

static void test_bad_assign(const struct partition *partition)
{
	__u32 other;

	if (!check_result(create(&other), 0, "CREATE of a second instance"))
		return;
	check_result(assign_cpu(other, cpu_a), EBUSY, "ASSIGN_CPU of a CPU that has an owner");
	check_result(assign_cpu(other, 0), ENOENT, "ASSIGN_CPU of a CPU that is not lent");
	check_result(assign_memory(other, partition->contig, CONTIG_BYTES), EBUSY,
		     "ASSIGN_MEM of a range that has an owner");
	check_result(assign_memory(other, partition->contig, CONTIG_BYTES / 2), ENOENT,
		     "ASSIGN_MEM of half a range");
	check_result(return_cpu(cpu_a), EBUSY, "RETURN_CPU of a CPU that has an owner");
	check_result(return_memory(partition->contig, CONTIG_BYTES), EBUSY,
		     "RETURN_MEM of a range that has an owner");
	check_result(destroy(other), 0, "DESTROY of the second instance");
}

static void test_doorbell_cpu(void)
{
	struct lwkpart_assign_cpu request = { .cpu = cpu_a };
	__u32 instance;

	check(!create(&instance) && !lend_cpu(cpu_a), "an instance is made and a CPU lent");
	request.instance = instance;
	request.doorbell_cpu = cpu_a;
	check_result(call(LWKPART_ASSIGN_CPU, &request), EINVAL,
		     "ASSIGN_CPU with doorbells to a CPU that is off-line");
	request.doorbell_cpu = -1U;
	check_result(call(LWKPART_ASSIGN_CPU, &request), EINVAL,
		     "ASSIGN_CPU with doorbells to CPU -1");
	check_result(assign_cpu(instance, cpu_a), 0, "ASSIGN_CPU");
	check_result(load(instance, "", 1), ENOMEM, "LOAD into an instance without memory");
	check(undo(), "all is undone");
}

/* A good image with one number in it replaced. */
static const struct bad_image {
	const char *what;
	size_t offset, size;
	unsigned long value;
} bad_images[] = {
#define HEADER(what, field, value)                                                                 \
	{                                                                                          \
		what, offsetof(struct image, header.field), sizeof(((Elf64_Ehdr *)0)->field),      \
			value                                                                      \
	}
#define SEGMENT(what, field, value)                                                                \
	{                                                                                          \
		what, offsetof(struct image, segment.field), sizeof(((Elf64_Phdr *)0)->field),     \
			value                                                                      \
	}
	HEADER("no ELF file", e_ident[0], 0),
	HEADER("a 32-bit image", e_ident[EI_CLASS], ELFCLASS32),
	HEADER("a big-endian image", e_ident[EI_DATA], ELFDATA2MSB),
	HEADER("an image for another machine", e_machine, EM_AARCH64),
	HEADER("a position-independent image", e_type, ET_DYN),
	HEADER("an image with odd program headers", e_phentsize, 55),
	HEADER("an image without program headers", e_phnum, 0),
	HEADER("an image with too many program headers", e_phnum, 0xffff),
	HEADER("an image whose program headers are beyond its end", e_phoff, 1UL << 40),
	HEADER("an image whose program headers wrap", e_phoff, -8UL),
	HEADER("an image whose program headers are out of line", e_phoff, 3),
	HEADER("an image with its entry point outside", e_entry, LWK_IMAGE_BASE + 4096),
	HEADER("an image with its entry point below", e_entry, 0),
	SEGMENT("an image without a segment", p_type, PT_NOTE),
	SEGMENT("an image without code", p_flags, PF_R),
	SEGMENT("an image with writable code", p_flags, PF_R | PF_W | PF_X),
	SEGMENT("a segment beyond the end", p_offset, 1UL << 40),
	SEGMENT("a segment that wraps in the file", p_offset, -1UL),
	SEGMENT("a segment longer than the file", p_filesz, 1UL << 40),
	SEGMENT("a segment shorter in memory than in the file", p_memsz, 1),
	SEGMENT("a segment that wraps in memory", p_memsz, -4096UL),
	SEGMENT("a segment beyond the image's place", p_memsz, 1UL << 30),
	SEGMENT("a segment below the image's place", p_vaddr, LWK_IMAGE_BASE - 4096),
	SEGMENT("a segment in user space", p_vaddr, 0x400000),
	SEGMENT("a segment that begins within a page", p_vaddr, LWK_IMAGE_BASE + 8),
};

static void test_bad_images(__u32 instance)
{
	struct image good = make_image(panicking_lwk, panicking_lwk_end), image;
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[2];
		char code[64];
	} twice = { 0 };
	char name[96];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_images); i++) {
		image = good;
		memcpy((char *)&image + bad_images[i].offset, &bad_images[i].value,
		       bad_images[i].size);
		snprintf(name, sizeof(name), "LOAD of %s", bad_images[i].what);
		check_result(load(instance, &image, sizeof(image)), ENOEXEC, name);
	}
	twice.header = good.header;
	twice.header.e_phnum = 2;
	twice.segments[0] = twice.segments[1] = good.segment;
	twice.segments[0].p_offset = twice.segments[1].p_offset = offsetof(typeof(twice), code);
	check_result(load(instance, &twice, sizeof(twice)), ENOEXEC,
		     "LOAD of an image with two segments at one address");
	image = good;
	image.segment.p_memsz = LWK_IMAGE_LIMIT - LWK_IMAGE_BASE;
	check_result(load(instance, &image, sizeof(image)), ENOMEM,
		     "LOAD of an image too large for the memory");
	check_result(load(instance, &good, 0), ENOEXEC, "LOAD of an empty file");
	check_result(load(instance, &good, sizeof(Elf64_Ehdr) - 1), ENOEXEC,
		     "LOAD of half a header");
	check_result(load(instance, &good, sizeof(Elf64_Ehdr)), ENOEXEC, "LOAD of a header only");
	check_result(load(instance, &good, LWKPART_MAX_IMAGE + 1), ENOEXEC,
		     "LOAD of a file that is too long");
	check_result(load(instance, NULL, 4096), EFAULT, "LOAD from nowhere");
	check(has_state(instance, LWK_STATE_ASSIGNED), "after all this it is still ASSIGNED");
	check_result(boot(instance, 1), EBUSY, "BOOT of an instance that is not LOADED");
}

static void test_kmsg(__u32 instance)
{
	char text[4096];
	struct lwkpart_kmsg request = { .instance = instance,
					.buffer = (unsigned long)text,
					.capacity = 1 };
	__u64 position;

	check(!call(LWKPART_KMSG, &request) && request.length == 1 && request.position == 1,
	      "KMSG gives one byte when asked for one");
	request.capacity = sizeof(text);
	check(!call(LWKPART_KMSG, &request) && request.length > 0 &&
		      request.position == 1 + request.length,
	      "KMSG goes on where it ended");
	position = request.position = -1UL;
	check(!call(LWKPART_KMSG, &request) && request.length == 0 && request.position < position,
	      "KMSG from beyond the end gives nothing");
	request.position = 0;
	request.buffer = 0;
	check_result(call(LWKPART_KMSG, &request), EFAULT, "KMSG to nowhere");
}

static void test_dump(__u32 instance)
{
	static struct lwk_boot_params params;
	static char again[4096];
	struct lwkpart_dump_layout layout = { .instance = instance, .job_id = JOB };
	struct lwkpart_dump request = { .instance = instance,
					.job_id = JOB,
					.buffer = (unsigned long)&params,
					.size = sizeof(params) };
	bool inside = true;
	__u32 i;

	check_result(call(LWKPART_DUMP_LAYOUT, &layout), 0, "DUMP_LAYOUT");
	for (i = 0; i < layout.count; i++)
		inside &= layout.segments[i].address >= LWK_IMAGE_BASE &&
			  layout.segments[i].start >= layout.start &&
			  layout.segments[i].start + layout.segments[i].size <=
				  layout.start + layout.bytes;
	check(layout.count >= 2 && inside, "it tells the image's segments, in that memory");
	check(!call(LWKPART_DUMP, &request) && request.size == sizeof(params) &&
		      params.magic == LWK_SHARED_MAGIC && params.job_id == JOB &&
		      params.reserve_start == layout.start && layout.bytes <= params.reserve_size &&
		      layout.bytes > params.reserve_used,
	      "DUMP copies the beginning: its boot parameters, and what it uses is more");
	request.offset = layout.bytes - 512;
	request.size = sizeof(again);
	request.buffer = (unsigned long)again;
	check(!call(LWKPART_DUMP, &request) && request.size == 512, "DUMP ends at the end");
	request.offset = -1UL;
	request.size = 1;
	check(!call(LWKPART_DUMP, &request) && request.size == 0, "DUMP from beyond the end");
	request.offset = 0;
	request.size = 1;
	request.buffer = 0;
	check_result(call(LWKPART_DUMP, &request), EFAULT, "DUMP to nowhere");
	request.job_id = layout.job_id = JOB + 1;
	check_result(call(LWKPART_DUMP, &request), ENOENT, "DUMP for another job");
	check_result(call(LWKPART_DUMP_LAYOUT, &layout), ENOENT, "DUMP_LAYOUT for another job");
}

/* The life of an instance with the project's own LWK. */
/* Whatever hardware there is: the LWK takes it, and goes on. */
static void test_counters(__u32 instance)
{
	static const struct lwk_counter wild[] = {
		{ LWK_COUNTER_GENERAL, 31, LWK_SELECT_ALL, 0 },
		{ LWK_COUNTER_FIXED, 31, LWK_SELECT_ALL, 0 },
		{ LWK_COUNTER_GENERAL, 0, LWK_SELECT_ALL, 0 },
		{ LWK_COUNTER_GENERAL, 0, 0, 0 },
		{ LWK_COUNTER_SOFTWARE, LWK_COUNT_PROCESSES, 0, 0 },
	};
	struct lwk_counters request = { .command = LWK_COUNTERS_SET, .count = ARRAY_SIZE(wild) };
	char path[32];
	__u32 order;
	int fd;

	snprintf(path, sizeof(path), LWK_DEVICE_DIR "/%u", instance);
	fd = open(path, O_RDWR);
	memcpy(request.counters, wild, sizeof(wild));
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS of no hardware");
	order = request.order;
	check(!request.running && request.count == ARRAY_SIZE(wild), "they are set");
	request.command = LWK_COUNTERS_START;
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS to start");
	check(request.running && request.order != order, "they run");
	request = (struct lwk_counters){ .command = LWK_COUNTERS_STOP };
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS to stop");
	check(!request.running && request.count == ARRAY_SIZE(wild) &&
		      !memcmp(request.counters, wild, sizeof(wild)),
	      "they stand still, and are those that were set");
	request = (struct lwk_counters){ .command = LWK_COUNTERS_SET };
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS to be removed");
	check(!request.count && has_state(instance, LWK_STATE_RUNNING), "the LWK goes on");
	/* Left to the end of the instance. */
	request = (struct lwk_counters){ .command = LWK_COUNTERS_SET, .count = 1 };
	request.counters[0] = wild[2];
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS that are left");
	close(fd);
}

static void test_life(const char *image, size_t size)
{
	struct lwkpart_instance_info info;
	struct lwkpart_confine confine = { 0 };
	struct partition partition;
	__u32 instance;

	if (!set_up(&partition))
		return;
	instance = partition.instance;
	confine.instance = instance;
	test_bad_assign(&partition);
	test_bad_images(instance);
	check_result(load(instance, image, size), 0, "LOAD of the LWK");
	check(has_state(instance, LWK_STATE_LOADED), "it is LOADED");
	check_result(load(instance, "", 1), ENOEXEC, "LOAD of a bad image over it");
	check(has_state(instance, LWK_STATE_ASSIGNED), "after that nothing is loaded");
	check_result(call(LWKPART_DUMP,
			  &(struct lwkpart_dump){ .instance = instance, .job_id = JOB, .size = 1 }),
		     ENODATA, "DUMP of that");
	check_result(load(instance, image, size), 0, "LOAD again");
	check_result(boot(instance, 30000), 0, "BOOT");
	info = get_instance(instance);
	check(info.state == LWK_STATE_RUNNING && info.job_id == JOB && info.cpus == 2 &&
		      info.ranges == (partition.block ? 2 : 1) && info.processes == 0 &&
		      !info.message[0],
	      "GET_INSTANCE shows it RUNNING with all it was given");
	check_result(boot(instance, 1), EBUSY, "BOOT of an instance that is RUNNING");
	check_result(load(instance, image, size), EBUSY, "LOAD into one that is RUNNING");
	check_result(call(LWKPART_CONFINE, &confine), EBUSY, "CONFINE of one that is RUNNING");
	check_result(assign_cpu(instance, cpu_a), EBUSY, "ASSIGN_CPU to one that is RUNNING");
	check_result(set_cpu(cpu_a, "1"), EBUSY, "its CPU cannot be put on-line");
	check_result(return_cpu(cpu_a), EBUSY, "RETURN_CPU of it");
	check(!can_unload(), "the module cannot be unloaded");
	test_kmsg(instance);
	test_dump(instance);
	test_counters(instance);
	check_result(shut_down(instance), 0, "SHUTDOWN");
	check(has_state(instance, LWK_STATE_SHUTDOWN), "it is SHUTDOWN");
	check_result(shut_down(instance), 0, "SHUTDOWN again");
	check_result(boot(instance, 1), EBUSY, "BOOT after SHUTDOWN");
	check_result(destroy(instance), 0, "DESTROY");
	check_result(destroy(instance), ENOENT, "DESTROY again");
	check(get_info().lent_cpus == 2, "its CPUs are in the ledger, as nobody's");

	check(!create(&instance) && !assign_cpu(instance, cpu_b) && !assign_cpu(instance, cpu_a) &&
		      !assign_memory(instance, partition.contig, CONTIG_BYTES) &&
		      !load(instance, image, size),
	      "another instance gets the same CPUs");
	check_result(boot(instance, 30000), 0, "BOOT on CPUs that ran an LWK before");
	check_result(destroy(instance), 0, "DESTROY of a RUNNING instance");
	check(undo(), "all is undone");
}

static void test_beside(const char *image, size_t size)
{
	__u64 first, second;
	__u32 a, b;

	check(!lend_cpu(cpu_a) && !lend_cpu(cpu_b) && !lend_contig(&first, CONTIG_BYTES) &&
		      !lend_contig(&second, CONTIG_BYTES) && !create(&a) && !create(&b) &&
		      !assign_cpu(a, cpu_a) && !assign_memory(a, first, CONTIG_BYTES) &&
		      !assign_cpu(b, cpu_b) && !assign_memory(b, second, CONTIG_BYTES) &&
		      !load(a, image, size) && !load(b, image, size),
	      "two instances are loaded");
	check_result(boot(a, 30000), 0, "BOOT of the first");
	check_result(boot(b, 30000), 0, "BOOT of the second beside it");
	check_result(destroy(a), 0, "DESTROY of the first");
	check(has_state(b, LWK_STATE_RUNNING), "the second goes on");
	check(undo(), "all is undone");
}

static void test_bad_lwks(void)
{
	struct image spinning = make_image(spinning_lwk, spinning_lwk_end);
	struct image panicking = make_image(panicking_lwk, panicking_lwk_end);
	struct partition partition;
	__u32 instance;

	if (!set_up(&partition))
		return;
	instance = partition.instance;
	check_result(load(instance, &panicking, sizeof(panicking)), 0, "LOAD of a bad LWK");
	check_result(boot(instance, 10000), EIO, "BOOT of an LWK that panics");
	check(has_state(instance, LWK_STATE_PANIC), "it is in PANIC");
	check(!strcmp(get_instance(instance).message, "oh?"),
	      "its message is shown, made printable");
	check_result(shut_down(instance), 0, "SHUTDOWN after a panic");
	check_result(destroy(instance), 0, "DESTROY after a panic");

	check(!create(&instance) && !assign_cpu(instance, cpu_a) &&
		      !assign_memory(instance, partition.contig, CONTIG_BYTES) &&
		      !load(instance, &spinning, sizeof(spinning)),
	      "an LWK that spins is loaded on the same CPU");
	check_result(boot(instance, 500), ETIMEDOUT, "BOOT of it");
	check(has_state(instance, LWK_STATE_HUNG), "it is HUNG");
	check(get_instance(instance).message[0], "a message says so");
	check_result(shut_down(instance), 0, "SHUTDOWN of a hung LWK");
	check(undo(), "all is undone");
}

/* Lends, boots, and waits to be killed in the middle of it. */
static void leave_a_mess(const char *image, size_t size, unsigned int steps)
{
	struct partition partition = { 0 };

	alarm(60);
	if (steps > 0)
		lend_cpu(cpu_a);
	if (steps > 1)
		lend_contig(&partition.contig, CONTIG_BYTES);
	if (steps > 2)
		create(&partition.instance);
	if (steps > 3) {
		assign_cpu(partition.instance, cpu_a);
		assign_memory(partition.instance, partition.contig, CONTIG_BYTES);
	}
	if (steps > 4)
		load(partition.instance, image, size);
	if (steps > 5)
		boot(partition.instance, 60000);
	for (;;)
		pause();
}

static void test_killed(const char *image, size_t size)
{
	struct image spinning = make_image(spinning_lwk, spinning_lwk_end);
	unsigned int steps;
	pid_t child;

	fflush(stdout);
	for (steps = 0; steps <= 7; steps++) {
		bool spins = steps == 7; /* then it dies while LWKPART_BOOT waits */

		child = fork();
		if (child == 0)
			leave_a_mess(spins ? (char *)&spinning : image,
				     spins ? sizeof(spinning) : size, steps);
		usleep(100000 + 300000 * steps);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		check(undo(), "killed %s: all can be undone from the ledger",
		      spins ? "while an LWK boots"
			    : (const char *[]){ "at the start", "with a CPU lent",
						"with memory lent", "with an instance",
						"with it assigned", "with it loaded",
						"with it running" }[steps]);
		fflush(stdout);
	}
}

/* ---- */

static void choose_cpus(void)
{
	unsigned int cpu = sysconf(_SC_NPROCESSORS_CONF);

	while (--cpu > 0 && !cpu_b) {
		if (!cpu_is_online(cpu))
			continue;
		if (!cpu_a)
			cpu_a = cpu;
		else
			cpu_b = cpu;
	}
	if (!cpu_b)
		bail_out("wants two on-line CPUs beside CPU 0");
	node = node_of_cpu(cpu_a);
}

static void read_machine(char *text, size_t size)
{
	char cpus[128], memory[128];

	read_file("/sys/devices/system/cpu/online", cpus, sizeof(cpus));
	read_file("/proc/meminfo", memory, sizeof(memory));
	snprintf(text, size, "CPUs %s%s", cpus, memory);
}

int main(int argc, char **argv)
{
	char before[300], after[300], *image;
	size_t size;

	if (argc != 2) {
		fprintf(stderr, "usage: lwkpart-abi IMAGE\n");
		return 2;
	}
	device = open(LWKPART_DEVICE, O_RDWR | O_CLOEXEC);
	if (device < 0)
		bail_out("cannot open " LWKPART_DEVICE "; is the module loaded?");
	if (get_ledger() || get_info().instances) {
		device = -1;
		bail_out("something is lent already: give it back first");
	}
	atexit(undo_at_exit);
	image = read_image(argv[1], &size);
	choose_cpus();
	read_machine(before, sizeof(before));

	check(get_info().abi_version == LWKPART_ABI_VERSION, "the module speaks this ABI");
	test_permission();
	test_commands();
	test_bad_lend();
	test_bad_instance();
	test_instances();
	test_watching();
	test_confine();
	test_move();
	test_cpus();
	test_contig();
	test_block();
	test_ledger();
	test_doorbell_cpu();
	test_life(image, size);
	test_beside(image, size);
	test_bad_lwks();
	test_killed(image, size);

	read_machine(after, sizeof(after));
	if (!check(!strcmp(before, after), "Linux has all its CPUs and memory as before"))
		printf("# before: %s# after: %s", before, after);
	free(image);
	printf("1..%u\n", checks);
	return failures ? 1 : 0;
}
