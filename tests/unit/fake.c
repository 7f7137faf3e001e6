// SPDX-License-Identifier: GPL-2.0-or-later
#include "modeswitch/job.h"
#include "modeswitch/node.h"
#include "unit/fake.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/files.h"

struct fake *fake;

static int act(void)
{
	if (++fake->actions != fake->stop_at)
		return 0;
	if (fake->how == CRASH)
		_exit(99);
	return fake->how == FAIL ? -EIO : 0;
}

/* A crash may follow an action before it is recorded. */
static int done(int result)
{
	if (++fake->actions == fake->stop_at && fake->how == CRASH)
		_exit(99);
	return result;
}

static struct ms_lent *find(bool is_cpu, uint64_t which)
{
	for (size_t i = 0; i < fake->n; i++) {
		struct ms_lent *lent = &fake->lent[i];

		if (lent->is_cpu == is_cpu && (is_cpu ? lent->cpu : lent->start) == which)
			return lent;
	}
	return NULL;
}

static void add(struct ms_lent lent)
{
	lent.instance = MS_NO_INSTANCE;
	fake->lent[fake->n++] = lent;
}

static int take_out(struct ms_lent *lent)
{
	if (!lent)
		return -ENOENT;
	if (lent->instance != MS_NO_INSTANCE)
		return -EBUSY;
	*lent = fake->lent[--fake->n];
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

/* Linux forbids CPU hotplug for a moment. */
static bool is_busy(void)
{
	fake->refused = fake->refused < fake->busy ? fake->refused + 1 : 0;
	return fake->refused;
}

static int lend_cpu(int dev, unsigned cpu)
{
	int error = is_busy() ? -EBUSY : act();

	if (error)
		return error;
	put_cpu(cpu, false);
	add((struct ms_lent){ .is_cpu = true, .cpu = cpu });
	return done(0);
}

static int return_cpu(int dev, unsigned cpu)
{
	int error = is_busy() ? -EBUSY : act();

	error = error ? error : take_out(find(true, cpu));
	if (!error)
		put_cpu(cpu, true);
	return error;
}

static int lend_blocks(int dev, uint64_t start, uint64_t bytes, unsigned node)
{
	int error = act();

	if (error || fake->veto_blocks)
		return error ? error : -EINVAL;
	add((struct ms_lent){ .is_blocks = true, .start = start, .bytes = bytes, .node = node });
	return done(0);
}

static int lend_run(int dev, uint64_t bytes, unsigned node, uint64_t *start)
{
	int error = act();

	if (error)
		return error;
	if (bytes > fake->largest_run || bytes > fake->free_runs)
		return -ENOMEM;
	fake->free_runs -= bytes;
	*start = fake->next_run += 1UL << 30;
	add((struct ms_lent){ .start = *start, .bytes = bytes, .node = node });
	return done(0);
}

static int return_memory(int dev, uint64_t start, uint64_t bytes)
{
	struct ms_lent *lent = find(false, start);
	int error = act();

	if (!error && lent && !lent->is_blocks && lent->instance == MS_NO_INSTANCE)
		fake->free_runs += bytes;
	return error ? error : take_out(lent);
}

static int read_ledger(int dev, struct ms_lent **lent, size_t *n)
{
	*n = fake->n;
	*lent = calloc(*n + 1, sizeof(**lent));
	memcpy(*lent, fake->lent, *n * sizeof(**lent));
	return 0;
}

static int create(int dev, uint32_t job_id, uid_t uid, bool kernel_calls, bool limited)
{
	int error = act(), i = 0;

	if (error)
		return error;
	while (fake->instances[i])
		i++;
	fake->instances[i] = true;
	fake->jobs[i] = job_id;
	return done(i);
}

static int destroy(int dev, unsigned instance)
{
	int error = act();

	if (error)
		return error;
	fake->instances[instance] = false;
	for (size_t i = 0; i < fake->n; i++) {
		if (fake->lent[i].instance == (int)instance)
			fake->lent[i].instance = MS_NO_INSTANCE;
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
	return is_busy() ? -EBUSY : assign(find(true, cpu), instance);
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
	if (fake->boot_fails)
		return -ETIMEDOUT;
	if (act() < 0)
		return -EIO;
	fake->booted = true;
	return done(0);
}

static int info(int dev, unsigned instance, struct instance_info *out)
{
	if (instance >= 4 || !fake->instances[instance])
		return -ENOENT;
	*out = (struct instance_info){ .job_id = fake->jobs[instance],
				       .memory_clear = true,
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

const struct driver fake_driver = {
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

void fake_make(void)
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
	memset(fake, 0, sizeof(*fake));
	fake->largest_run = 64 * MB;
	fake->free_runs = 1024 * MB;
	fake->next_run = 1UL << 40;
}

int fake_begin(void)
{
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return fake == MAP_FAILED ? -1 : 0;
}

void fake_end(void)
{
	munmap(fake, sizeof(*fake));
}

void assert_block(unsigned index, const char *state)
{
	char name[128];

	snprintf(name, sizeof(name), "sys/devices/system/memory/memory%u/state", index);
	if (strncmp(unit_read(name), state, strlen(state)) != 0)
		fail_msg("block %u: expected %s, found %s", index, state, unit_read(name));
}

void assert_all_is_back(void)
{
	char name[128];

	assert_int_equal(fake->n, 0);
	assert_int_equal(fake->free_runs, 1024 * MB);
	for (int i = 0; i < 4; i++)
		assert_false(fake->instances[i]);
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
