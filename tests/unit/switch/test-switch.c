// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the real steps with a driver and a /sys that only pretend. Like a kernel, both outlive the
 * process that switches, so it can be killed before and after each of its actions.
 */
#include "unit/unit.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/files.h"
#include "switch/engine.h"
#include "switch/steps/table.h"

#define MB (1UL << 20)
#define BLOCK (128 * MB)
#define JOB 7

/* lwkpart.ko would keep this. */
static struct ledger {
	struct ms_lent lent[64];
	size_t n;
	bool instances[4];
	uint32_t jobs[4];
	uint64_t largest_run; /* bytes of the largest run that any node has */
	uint64_t free_runs;   /* bytes, all nodes together */
	uint64_t next_run;    /* address */
	int actions, stop_at;
	enum { NOTHING, FAIL, CRASH } how;
	bool boot_fails, veto_blocks;
	bool booted;
} * ledger;

static int act(void)
{
	if (++ledger->actions != ledger->stop_at)
		return 0;
	if (ledger->how == CRASH)
		_exit(99);
	return ledger->how == FAIL ? -EIO : 0;
}

/* A crash may come just after an action, which nobody knows of then. */
static int done(int result)
{
	if (++ledger->actions == ledger->stop_at && ledger->how == CRASH)
		_exit(99);
	return result;
}

static struct ms_lent *find(bool is_cpu, uint64_t which)
{
	for (size_t i = 0; i < ledger->n; i++) {
		struct ms_lent *lent = &ledger->lent[i];

		if (lent->is_cpu == is_cpu && (is_cpu ? lent->cpu : lent->start) == which)
			return lent;
	}
	return NULL;
}

static void add(struct ms_lent lent)
{
	lent.instance = MS_NO_INSTANCE;
	ledger->lent[ledger->n++] = lent;
}

static int take_out(struct ms_lent *lent)
{
	if (!lent)
		return -ENOENT;
	if (lent->instance != MS_NO_INSTANCE)
		return -EBUSY;
	*lent = ledger->lent[--ledger->n];
	return 0;
}

static void put_cpu(unsigned cpu, bool online)
{
	assert_int_equal(
		kernel_write(online ? "1" : "0", "/sys/devices/system/cpu/cpu%u/online", cpu), 0);
}

static int fake_open(struct ms_error *err)
{
	return 5;
}

static void fake_close(int dev)
{
}

static int lend_cpu(int dev, unsigned cpu)
{
	int error = act();

	if (error)
		return error;
	put_cpu(cpu, false);
	add((struct ms_lent){ .is_cpu = true, .cpu = cpu });
	return done(0);
}

static int return_cpu(int dev, unsigned cpu)
{
	int error = act();

	error = error ? error : take_out(find(true, cpu));
	if (!error)
		put_cpu(cpu, true);
	return error;
}

static int lend_blocks(int dev, uint64_t start, uint64_t bytes, unsigned node)
{
	int error = act();

	if (error || ledger->veto_blocks)
		return error ? error : -EINVAL;
	add((struct ms_lent){ .is_blocks = true, .start = start, .bytes = bytes, .node = node });
	return done(0);
}

static int lend_run(int dev, uint64_t bytes, unsigned node, uint64_t *start)
{
	int error = act();

	if (error)
		return error;
	if (bytes > ledger->largest_run || bytes > ledger->free_runs)
		return -ENOMEM;
	ledger->free_runs -= bytes;
	*start = ledger->next_run += 1UL << 30;
	add((struct ms_lent){ .start = *start, .bytes = bytes, .node = node });
	return done(0);
}

static int return_memory(int dev, uint64_t start, uint64_t bytes)
{
	struct ms_lent *lent = find(false, start);
	int error = act();

	if (!error && lent && !lent->is_blocks && lent->instance == MS_NO_INSTANCE)
		ledger->free_runs += bytes;
	return error ? error : take_out(lent);
}

static int read_ledger(int dev, struct ms_lent **lent, size_t *n)
{
	*n = ledger->n;
	*lent = calloc(*n + 1, sizeof(**lent));
	memcpy(*lent, ledger->lent, *n * sizeof(**lent));
	return 0;
}

static int create(int dev, uint32_t job_id, uid_t uid, bool kernel_calls)
{
	int error = act(), i = 0;

	if (error)
		return error;
	while (ledger->instances[i])
		i++;
	ledger->instances[i] = true;
	ledger->jobs[i] = job_id;
	return done(i);
}

static int destroy(int dev, unsigned instance)
{
	int error = act();

	if (error)
		return error;
	ledger->instances[instance] = false;
	for (size_t i = 0; i < ledger->n; i++) {
		if (ledger->lent[i].instance == (int)instance)
			ledger->lent[i].instance = MS_NO_INSTANCE;
	}
	return 0;
}

static int assign(struct ms_lent *lent, unsigned instance)
{
	int error = act();

	if (error)
		return error;
	assert_non_null(lent);
	lent->instance = instance;
	return done(0);
}

static int assign_cpu(int dev, unsigned instance, unsigned cpu, unsigned doorbell_cpu)
{
	assert_int_equal(doorbell_cpu, 4);
	return assign(find(true, cpu), instance);
}

static int assign_memory(int dev, unsigned instance, uint64_t start, uint64_t bytes)
{
	return assign(find(false, start), instance);
}

static int load(int dev, unsigned instance, const void *image, size_t size)
{
	assert_memory_equal(image, "kernel", size);
	return act();
}

static int boot(int dev, unsigned instance, const char *args, unsigned timeout_ms)
{
	/* BootTimeout=, and some seconds to clear the memory */
	assert_true(timeout_ms >= 1 && timeout_ms <= 20000);
	if (ledger->boot_fails)
		return -ETIMEDOUT;
	if (act() < 0)
		return -EIO;
	ledger->booted = true;
	return done(0);
}

static int info(int dev, unsigned instance, struct instance_info *out)
{
	if (instance >= 4 || !ledger->instances[instance])
		return -ENOENT;
	*out = (struct instance_info){ .job_id = ledger->jobs[instance],
				       .state = "HUNG",
				       .message = "no answer" };
	return 0;
}

static ssize_t kmsg(int dev, unsigned instance, uint64_t *position, char *text, size_t size)
{
	static const char console[] = "first line\nlast \x01 line\n";
	size_t n = strlen(console) - *position;

	if (n > 5)
		n = 5;
	memcpy(text, console + *position, n);
	*position += n;
	return n;
}

static const struct driver fake = {
	.name = "fake",
	.module = "fake",
	.device_prefix = "/dev/fake",
	.open = fake_open,
	.close = fake_close,
	.lend_cpu = lend_cpu,
	.return_cpu = return_cpu,
	.lend_blocks = lend_blocks,
	.lend_run = lend_run,
	.return_memory = return_memory,
	.ledger = read_ledger,
	.create = create,
	.destroy = destroy,
	.assign_cpu = assign_cpu,
	.assign_memory = assign_memory,
	.load = load,
	.boot = boot,
	.info = info,
	.max_instances = 4,
	.kmsg = kmsg,
};

/* ---- a machine ---- */

static void make_block(unsigned index, unsigned node, const char *zones)
{
	char name[128];

	snprintf(name, sizeof(name), "sys/devices/system/memory/memory%u/state", index);
	unit_file(name, "online\n");
	snprintf(name, sizeof(name), "sys/devices/system/memory/memory%u/valid_zones", index);
	unit_file(name, "%s\n", zones);
	snprintf(name, sizeof(name), "sys/devices/system/memory/memory%u/phys_index", index);
	unit_file(name, "%08x\n", index);
	snprintf(name, sizeof(name), "sys/devices/system/memory/memory%u/node%u", index, node);
	unit_file(name, "%s", "");
}

static void make_machine(void)
{
	char name[128];

	for (unsigned cpu = 0; cpu < 8; cpu++) {
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/online", cpu);
		unit_file(name, "1\n");
	}
	unit_file("sys/devices/system/memory/block_size_bytes", "%lx\n", BLOCK);
	for (unsigned index = 0; index < 4; index++)
		make_block(index, 0, "Normal");
	make_block(32, 1, "Normal");
	make_block(33, 1, "none");
	make_block(34, 1, "Normal");
	make_block(35, 1, "Movable");
	make_block(36, 1, "Movable");
	make_block(37, 1, "Normal");
	unit_file("sys/devices/system/memory/memory37/node0", "%s", ""); /* on two nodes */
	unit_file("proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable: 3000000 kB\n");
	unit_file("proc/sys/vm/min_free_kbytes", "65536\n");
	memset(ledger, 0, sizeof(*ledger));
	ledger->largest_run = 64 * MB;
	ledger->free_runs = 1024 * MB;
	ledger->next_run = 1UL << 40;
}

static void assert_block(unsigned index, const char *state)
{
	char name[128];

	snprintf(name, sizeof(name), "sys/devices/system/memory/memory%u/state", index);
	if (strncmp(unit_read(name), state, strlen(state)) != 0)
		fail_msg("block %u: expected %s, found %s", index, state, unit_read(name));
}

/* Is the machine as make_machine() left it? */
static void assert_all_is_back(void)
{
	char name[128];

	assert_int_equal(ledger->n, 0);
	assert_int_equal(ledger->free_runs, 1024 * MB);
	for (int i = 0; i < 4; i++)
		assert_false(ledger->instances[i]);
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/online", cpu);
		assert_int_equal(*unit_read(name), '1');
	}
	for (unsigned index = 0; index < 4; index++)
		assert_block(index, "online");
	for (unsigned index = 32; index < 38; index++)
		assert_block(index, "online");
	assert_false(unit_exists("jobs/7.sys"));
}

/* ---- a switch ---- */

static struct ms_config config = { .boot_timeout_ms = 10000, .switch_timeout_ms = 60000 };
static struct ms_plan_cpu plan_cpus[] = { { 5, 1, 4 }, { 6, 1, 4 }, { 7, 1, 4 } };
static struct ms_plan_memory plan_memory[] = { { .node = 1 }, { .node = 0 } };
static struct ms_plan plan = { .image = { .name = "lwk" },
			       .cpus = plan_cpus,
			       .n_cpus = 3,
			       .memory = plan_memory,
			       .n_memory = 2 };

/* 0: on; 1: failed and undone; -1: failed and not undone. */
static int switch_on(struct ms_error *err)
{
	struct switching switching = { .job_id = JOB,
				       .uid = 1000,
				       .driver = &fake,
				       .dev = 5,
				       .config = &config,
				       .plan = &plan,
				       .image = "kernel",
				       .image_size = 6,
				       .deadline = clock_ms() + config.switch_timeout_ms };
	struct ms_error ignored;
	int ret;

	plan.bytes = plan.least = plan_memory[0].bytes + plan_memory[1].bytes;
	if (journal_create(JOB, 1000, "fake", &switching.journal, err) < 0)
		return -1;
	ret = steps_run(all_steps, &switching, err);
	if (ret < 0) {
		ledger->how = NOTHING;
		ret = steps_undo(all_steps, &switching, &ignored) < 0 ? -1 : 1;
		if (ret == 1 && journal_remove(JOB, &ignored) < 0)
			ret = -1;
	}
	journal_close(switching.journal);
	free(switching.memory);
	return ret;
}

static int said;

static void count_line(const char *line, void *context)
{
	said++;
}

static int switch_off(struct ms_error *err)
{
	struct switching switching = {
		.job_id = JOB, .driver = &fake, .dev = 5, .say = count_line
	};
	int ret = journal_open(JOB, &switching.journal, err);

	if (ret <= 0)
		return ret;
	ret = steps_undo(all_steps, &switching, err);
	journal_close(switching.journal);
	return ret < 0 ? ret : journal_remove(JOB, err);
}

static int setup(void **state)
{
	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (ledger == MAP_FAILED || unit_setup(state) < 0)
		return -1;
	files_root = unit_dir;
	plan.lwk_cpus = hwloc_bitmap_alloc();
	plan.linux_cpus = hwloc_bitmap_alloc();
	hwloc_bitmap_set_range(plan.lwk_cpus, 5, 7);
	hwloc_bitmap_set(plan.linux_cpus, 4);
	plan_memory[0].bytes = 360 * MB; /* two movable blocks, and 104 MB in runs of 52 */
	plan_memory[1].bytes = 0;
	make_machine();
	/* The kernel has this file with cgroup version 2. */
	unit_file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
	return 0;
}

static int teardown(void **state)
{
	hwloc_bitmap_free(plan.lwk_cpus);
	hwloc_bitmap_free(plan.linux_cpus);
	munmap(ledger, sizeof(*ledger));
	files_root = "";
	return unit_teardown(state);
}

static uint64_t lent_bytes(int node, bool blocks)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ledger->n; i++) {
		if (!ledger->lent[i].is_cpu && ledger->lent[i].is_blocks == blocks &&
		    (int)ledger->lent[i].node == node)
			sum += ledger->lent[i].bytes;
	}
	return sum;
}

static void on_and_off(void **state)
{
	struct ms_error err;

	assert_int_equal(switch_on(&err), 0);
	assert_true(ledger->booted);
	assert_string_equal(unit_read("jobs/7.sys/cpu/online"), "5-7\n");
	assert_string_equal(unit_read("jobs/7.sys/node/node1/meminfo"),
			    "Node 1 MemTotal:         368640 kB\n");
	for (size_t i = 0; i < ledger->n; i++)
		assert_int_equal(ledger->lent[i].instance, 0);
	/* The movable blocks come first; the rest is less than a block. */
	assert_block(35, "offline");
	assert_block(36, "offline");
	assert_int_equal(lent_bytes(1, true), 2 * BLOCK);
	assert_int_equal(lent_bytes(1, false), 104 * MB);
	said = 0;
	assert_int_equal(switch_off(&err), 0);
	assert_all_is_back();
	assert_block(35, "online_movable");
	/* An instance, two blocks, two runs, three CPUs. */
	assert_int_equal(said, 8);
}

static void kernel_blocks_return_to_the_kernel(void **state)
{
	struct ms_error err;

	plan_memory[0].bytes = 3 * BLOCK;
	assert_int_equal(switch_on(&err), 0);
	assert_block(32, "offline");
	assert_int_equal(switch_off(&err), 0);
	assert_block(32, "online_kernel");
	assert_block(35, "online_movable");
	assert_all_is_back();
}

static void another_node_helps_out(void **state)
{
	struct ms_error err;

	ledger->largest_run = 0;
	plan_memory[0].bytes = 5 * BLOCK; /* node 1 has four that can go */
	assert_int_equal(switch_on(&err), 0);
	assert_int_equal(lent_bytes(1, true), 4 * BLOCK);
	assert_int_equal(lent_bytes(0, true), BLOCK);
	assert_block(33, "online");
	assert_block(37, "online");
	ledger->free_runs = 1024 * MB;
	assert_int_equal(switch_off(&err), 0);
	assert_all_is_back();
}

static void memory_that_cannot_be_had(void **state)
{
	struct ms_error err;

	ledger->free_runs = 0;
	plan_memory[0].bytes = 9 * BLOCK;
	assert_int_equal(switch_on(&err), 1);
	assert_has(err.text,
		   "expected 1152 MB of memory for the LWK, found 1 GB that Linux can give");
	ledger->free_runs = 1024 * MB;
	assert_all_is_back();
	assert_false(unit_exists("jobs/7.journal"));
}

static void linux_keeps_enough(void **state)
{
	struct ms_error err;

	unit_file("proc/meminfo", "MemAvailable: 262143 kB\n"); /* less 128 MB: no block */
	ledger->largest_run = 1024 * MB;
	assert_int_equal(switch_on(&err), 0);
	assert_int_equal(lent_bytes(1, true), 0);
	assert_int_equal(lent_bytes(1, false), 360 * MB);
	assert_int_equal(switch_off(&err), 0);
	unit_file("proc/meminfo", "MemAvailable: 131072 kB\n");
	assert_int_equal(switch_on(&err), 1);
	assert_has(err.text, "expected 360 MB of memory for the LWK, found 0 bytes");
	/* Linux's own mark counts when it is higher. */
	unit_file("proc/meminfo", "MemAvailable: 1048576 kB\n");
	unit_file("proc/sys/vm/min_free_kbytes", "524288\n");
	assert_int_equal(switch_on(&err), 1);
	assert_all_is_back();
}

static void a_block_that_the_module_does_not_want(void **state)
{
	struct ms_error err;

	ledger->veto_blocks = true;
	assert_int_equal(switch_on(&err), 0);
	assert_block(35, "online_movable");
	assert_int_equal(lent_bytes(1, true), 0);
	assert_int_equal(lent_bytes(1, false), 360 * MB);
	assert_int_equal(switch_off(&err), 0);
	assert_all_is_back();
}

static void a_boot_that_fails_tells_the_console(void **state)
{
	struct ms_error err;

	ledger->boot_fails = true;
	assert_int_equal(switch_on(&err), 1);
	assert_has(err.text,
		   "did not boot within 10480 ms: Connection timed out; its state is HUNG: no "
		   "answer; its console ends with: first line|last ? line");
	assert_all_is_back();
}

static void a_failure_anywhere_gives_all_back(void **state)
{
	struct ms_error err;
	int at, failures = 0;

	for (at = 1;; at++) {
		int ret;

		make_machine();
		ledger->stop_at = at;
		ledger->how = FAIL;
		ret = switch_on(&err);
		if (ret == 0 && ledger->actions < at)
			break;
		if (ret == 0) /* the failure came after an action */
			assert_int_equal(switch_off(&err), 0);
		if (ret < 0)
			fail_msg("action %d: %s", at, err.text);
		failures += ret;
		assert_all_is_back();
	}
	/* CPUs 3, blocks 2, runs 3 (one is too large), an instance, assigning 3 + 4, load, boot. */
	assert_int_equal(failures, 18);
	ledger->how = NOTHING;
	assert_int_equal(switch_off(&err), 0);
}

static void a_crash_anywhere_gives_all_back(void **state)
{
	struct ms_error err;
	int crashes = 0;

	for (int at = 1;; at++) {
		make_machine();
		ledger->stop_at = at;
		ledger->how = CRASH;
		/*
		 * When the process that searches a run crashes, the switch fails and undoes itself.
		 */
		if (unit_in_child(switch_on) != 99 && ledger->booted)
			break;
		crashes++;
		ledger->how = NOTHING;
		assert_int_equal(switch_off(&err), 0);
		assert_all_is_back();
	}
	assert_true(crashes > 20);
	ledger->how = NOTHING;
	assert_int_equal(switch_off(&err), 0);
}

static void a_crash_while_switching_off_too(void **state)
{
	struct ms_error err;
	int crashes = 0;

	for (int at = 1;; at++) {
		make_machine();
		assert_int_equal(switch_on(&err), 0);
		ledger->actions = 0;
		ledger->stop_at = at;
		ledger->how = CRASH;
		if (unit_in_child(switch_off) != 99)
			break;
		crashes++;
		ledger->how = NOTHING;
		assert_int_equal(switch_off(&err), 0);
		assert_all_is_back();
	}
	/* An instance, four ranges, three CPUs. */
	assert_int_equal(crashes, 8);
	assert_all_is_back();
}

static void what_another_job_has_by_now_is_not_touched(void **state)
{
	struct ms_error err;

	assert_int_equal(switch_on(&err), 0);
	/* All has been undone but the journal, and lent to job 8 since. */
	ledger->jobs[0] = 8;
	assert_int_equal(switch_off(&err), 0);
	assert_int_equal(ledger->n, 7);
	assert_true(ledger->instances[0]);
	assert_block(35, "offline");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(on_and_off),
		TEST(kernel_blocks_return_to_the_kernel),
		TEST(another_node_helps_out),
		TEST(memory_that_cannot_be_had),
		TEST(linux_keeps_enough),
		TEST(a_block_that_the_module_does_not_want),
		TEST(a_boot_that_fails_tells_the_console),
		TEST(a_failure_anywhere_gives_all_back),
		TEST(a_crash_anywhere_gives_all_back),
		TEST(a_crash_while_switching_off_too),
		TEST(what_another_job_has_by_now_is_not_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
