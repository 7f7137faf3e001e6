// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the life of an instance with the project's own LWK, alone, beside another one, and when the
 * program that lent things is killed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi.h"

/* Waits until the LWK has cleared its memory. */
static bool clears_memory(__u32 instance)
{
	for (int ms = 0; ms < 60000 && !get_instance(instance).memory_clear; ms++)
		usleep(1000);
	return get_instance(instance).memory_clear == 1;
}

/* The block may adjoin the other memory; they are one range then. */
static unsigned int count_ranges(const struct partition *partition)
{
	if (!partition->block || partition->contig + CONTIG_BYTES == partition->block ||
	    partition->block + get_info().block_bytes == partition->contig)
		return 1;
	return 2;
}

void test_life(const char *image, size_t size)
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
		      info.ranges == count_ranges(&partition) && info.processes == 0 &&
		      !info.message[0],
	      "GET_INSTANCE shows it RUNNING with all it was given");
	check_result(boot(instance, 1), EBUSY, "BOOT of an instance that is RUNNING");
	check_result(load(instance, image, size), EBUSY, "LOAD into one that is RUNNING");
	check_result(call(LWKPART_CONFINE, &confine), EBUSY, "CONFINE of one that is RUNNING");
	check_result(assign_cpu(instance, cpu_a), EBUSY, "ASSIGN_CPU to one that is RUNNING");
	check_result(set_cpu(cpu_a, "1"), EBUSY, "its CPU cannot be put on-line");
	check_result(return_cpu(cpu_a), EBUSY, "RETURN_CPU of it");
	check(!can_unload(), "the module cannot be unloaded");
	check(clears_memory(instance), "it clears its memory without a program");
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

/* Lends memory in pieces. Returns in how many runs they lie; their addresses ascend. */
static unsigned int lend_pieces(__u64 starts[], unsigned int n)
{
	unsigned int i, runs = 0;

	for (i = 0; i < n; i++)
		lend_contig(&starts[i], CONTIG_BYTES / n);
	if (get_ledger() != n)
		return 0;
	for (i = 0; i < n; i++) {
		starts[i] = ledger[i].start;
		runs += i == 0 || starts[i] != starts[i - 1] + CONTIG_BYTES / n;
	}
	return runs;
}

/* An instance has far fewer ranges than a large partition has memory blocks. */
void test_joined(const char *image, size_t size)
{
	unsigned int i, runs;
	__u64 starts[8];
	__u32 instance;

	runs = lend_pieces(starts, 8);
	if (!check(runs && runs < 8, "pieces of memory are lent, some of them neighbours") ||
	    !check(!create(&instance) && !lend_cpu(cpu_a) && !assign_cpu(instance, cpu_a),
		   "an instance is made"))
		return;
	for (i = 0; i < 8; i += 2)
		check_result(assign_memory(instance, starts[i], CONTIG_BYTES / 8), 0, "ASSIGN_MEM");
	for (i = 1; i < 8; i += 2)
		check_result(assign_memory(instance, starts[i], CONTIG_BYTES / 8), 0,
			     "ASSIGN_MEM between others");
	check(get_instance(instance).ranges == runs && get_instance(instance).bytes == CONTIG_BYTES,
	      "neighbours are joined: expected %u ranges, found %u", runs,
	      get_instance(instance).ranges);
	check(get_ledger() == 9 && ledger[8].size == CONTIG_BYTES / 8 &&
		      ledger[8].instance == instance,
	      "the ledger has each piece");
	check_result(assign_memory(instance, starts[3], CONTIG_BYTES / 8), EBUSY,
		     "ASSIGN_MEM of a piece again");
	check_result(load(instance, image, size), 0, "LOAD into them");
	check_result(boot(instance, 30000), 0, "BOOT");
	check(undo(), "all is undone");
}

void test_beside(const char *image, size_t size)
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

/* Carries out the first steps of lending and booting, and waits to be killed. */
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

void test_killed(const char *image, size_t size)
{
	struct image spinning = make_image(spinning_lwk, spinning_lwk_end);
	unsigned int steps;
	pid_t child;

	fflush(stdout);
	for (steps = 0; steps <= 7; steps++) {
		bool spins = steps == 7; /* killed while LWKPART_BOOT waits */

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
