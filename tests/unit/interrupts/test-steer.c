// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests where interrupts go while jobs want quiet, on a machine with eight CPUs. */
#include "unit/allocation.h"
#include "unit/unit.h"

#include "interrupts/steer.h"

#define N_IRQS 8
#define N_CPUS 8

struct machine {
	hwloc_bitmap_t online, quiet, busy, os;
	double carried[N_CPUS];
	struct steer_irq irqs[N_IRQS];
	size_t n;
	struct steer_cpus cpus;
};

static hwloc_bitmap_t list(const char *text)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();

	assert_int_equal(hwloc_bitmap_list_sscanf(set, text), 0);
	return set;
}

static void make(struct machine *machine, const char *quiet, const char *busy, const char *os)
{
	memset(machine, 0, sizeof(*machine));
	machine->online = list("0-7");
	machine->quiet = list(quiet);
	machine->busy = list(busy);
	machine->os = list(os);
	machine->cpus = (struct steer_cpus){ .online = machine->online,
					     .quiet = machine->quiet,
					     .busy = machine->busy,
					     .os = machine->os,
					     .carried = machine->carried,
					     .n_carried = N_CPUS,
					     .horizon = 10 };
}

static void add(struct machine *machine, const char *was, const char *now, const char *near,
		double rate)
{
	machine->irqs[machine->n++] = (struct steer_irq){ .was = list(was),
							  .now = list(now),
							  .near = list(near),
							  .rate = rate,
							  .to = hwloc_bitmap_alloc() };
}

static void end(struct machine *machine)
{
	for (size_t i = 0; i < machine->n; i++) {
		hwloc_bitmap_free((hwloc_bitmap_t)machine->irqs[i].was);
		hwloc_bitmap_free((hwloc_bitmap_t)machine->irqs[i].now);
		hwloc_bitmap_free((hwloc_bitmap_t)machine->irqs[i].near);
		hwloc_bitmap_free(machine->irqs[i].to);
	}
	hwloc_bitmap_free(machine->online);
	hwloc_bitmap_free(machine->quiet);
	hwloc_bitmap_free(machine->busy);
	hwloc_bitmap_free(machine->os);
}

static enum steer_place decide(struct machine *machine)
{
	return steer_decide(&machine->cpus, machine->irqs, machine->n);
}

static void assert_to(struct machine *machine, size_t irq, const char *wanted)
{
	char found[128];

	hwloc_bitmap_list_snprintf(found, sizeof(found), machine->irqs[irq].to);
	assert_string_equal(found, wanted);
}

static void free_cores_come_first(void **state)
{
	struct machine machine;

	make(&machine, "2-5", "1-5", "0");
	add(&machine, "0-7", "0-7", "0-7", 5);
	add(&machine, "3", "3", "4-7", 5); /* CPUs 4-7 are near its device */
	add(&machine, "3", "3", "0-3", 5); /* no free CPU is near its device */
	add(&machine, "0-1", "0-1", "0-7", 5);
	assert_int_equal(decide(&machine), STEER_FREE);
	assert_to(&machine, 0, "6-7");
	assert_to(&machine, 1, "6-7");
	assert_to(&machine, 2, "6-7");
	assert_to(&machine, 3, "0-1");
	end(&machine);
}

static void then_os_cpus(void **state)
{
	struct machine machine;

	make(&machine, "2-5", "2-7", "0-1");
	add(&machine, "0-7", "0-7", "0-7", 5);
	add(&machine, "2", "2", "0,2", 5);
	assert_int_equal(decide(&machine), STEER_OS);
	assert_to(&machine, 0, "0-1");
	assert_to(&machine, 1, "0");
	end(&machine);
}

/* All CPUs count as busy when nobody knows which CPUs other jobs have. */
static void unknown_cpus_are_busy(void **state)
{
	struct machine machine;

	make(&machine, "2-5", "0-", "0");
	add(&machine, "0-7", "0-7", "0-7", 5);
	assert_int_equal(decide(&machine), STEER_OS);
	assert_to(&machine, 0, "0");
	end(&machine);
}

static void nothing_moves_that_need_not(void **state)
{
	struct machine machine;

	/* Moving would help a little: from the OS CPU to the free CPUs 6-7, from one to both. */
	make(&machine, "2-5", "1-5", "0");
	add(&machine, "0-7", "0", "0-7", 5000);
	add(&machine, "0-7", "7", "0-7", 5000);
	assert_int_equal(decide(&machine), STEER_FREE);
	assert_to(&machine, 0, "0");
	assert_to(&machine, 1, "7");
	end(&machine);

	/* A job has begun on CPU 7. */
	make(&machine, "2-5", "1-5,7", "0");
	add(&machine, "0-7", "7", "0-7", 5);
	assert_int_equal(decide(&machine), STEER_FREE);
	assert_to(&machine, 0, "6");
	end(&machine);
}

static void all_comes_back(void **state)
{
	struct machine machine;

	make(&machine, "", "1-5", "0");
	add(&machine, "0-7", "6-7", "", 5);
	add(&machine, "3", "0", "", 5);
	decide(&machine);
	assert_to(&machine, 0, "0-7");
	assert_to(&machine, 1, "3");
	end(&machine);

	/* One of two quiet jobs has ended. */
	make(&machine, "4-5", "4-5", "0");
	add(&machine, "2", "6-7", "0-7", 5);
	add(&machine, "2-4", "6-7", "0-7", 5);
	decide(&machine);
	assert_to(&machine, 0, "2");
	assert_to(&machine, 1, "6-7");
	end(&machine);
}

/* The most that a CPU has carried, over the least. */
static double ratio(struct machine *machine)
{
	double most = 0, least = 1e30;

	for (unsigned cpu = 0; cpu < N_CPUS; cpu++) {
		most = machine->carried[cpu] > most ? machine->carried[cpu] : most;
		least = machine->carried[cpu] < least ? machine->carried[cpu] : least;
	}
	return most / least;
}

/* Lets the interrupts of one horizon come where the decision puts them; returns how many moved. */
static unsigned carry_on(struct machine *machine)
{
	unsigned moved = 0;

	for (size_t i = 0; i < machine->n; i++) {
		struct steer_irq *irq = &machine->irqs[i];

		assert_int_equal(hwloc_bitmap_weight(irq->to), 1);
		moved += !hwloc_bitmap_isequal(irq->to, irq->now);
		hwloc_bitmap_copy((hwloc_bitmap_t)irq->now, irq->to);
		machine->carried[hwloc_bitmap_first(irq->to)] += irq->rate * machine->cpus.horizon;
	}
	return moved;
}

static void a_job_with_all_cores_has_its_share_on_each(void **state)
{
	struct machine machine;

	make(&machine, "0-7", "0-7", "0");
	for (int i = 0; i < N_IRQS; i++)
		add(&machine, "0", "0", "0-7", 1000 + 20 * (i % 3));
	assert_int_equal(decide(&machine), STEER_SPREAD);
	carry_on(&machine);
	assert_true(ratio(&machine) < 1.1);
	end(&machine);
}

static void few_heavy_ones_take_turns(void **state)
{
	struct machine machine;
	int rounds = 64;

	make(&machine, "0-7", "0-7", "0");
	add(&machine, "0-7", "0-7", "0-3", 9000);
	add(&machine, "0-7", "0-7", "4-7", 4000);
	add(&machine, "0-7", "0-7", "4-7", 500);
	while (rounds--) {
		assert_int_equal(decide(&machine), STEER_SPREAD);
		carry_on(&machine);
	}
	assert_true(ratio(&machine) < 1.5);
	end(&machine);
}

static void small_differences_are_no_reason_to_move(void **state)
{
	struct machine machine;
	unsigned moved = 0;
	char cpu[8];

	make(&machine, "0-7", "0-7", "0");
	for (int i = 0; i < N_IRQS; i++) {
		snprintf(cpu, sizeof(cpu), "%d", i);
		add(&machine, cpu, cpu, "0-7", 1000 + i);
	}
	for (int rounds = 0; rounds < 10; rounds++) {
		/* The rates go up and down a little. */
		for (int i = 0; i < N_IRQS; i++)
			machine.irqs[i].rate += (i + rounds) % 2 ? 30 : -30;
		assert_int_equal(decide(&machine), STEER_SPREAD);
		moved += carry_on(&machine);
	}
	assert_int_equal(moved, 0);
	end(&machine);
}

static void idle_ones_stay(void **state)
{
	struct machine machine;

	make(&machine, "0-7", "0-7", "0");
	add(&machine, "0-7", "0-7", "0-7", 0.2);
	assert_int_equal(decide(&machine), STEER_SPREAD);
	assert_to(&machine, 0, "0-7");
	end(&machine);
}

static void another_jobs_cpus_get_none(void **state)
{
	struct machine machine;

	/* The quiet job has CPUs 0-5, with the OS CPU; another job, not quiet, has CPUs 6-7. */
	make(&machine, "0-5", "0-7", "0");
	for (int i = 0; i < N_IRQS; i++)
		add(&machine, "0-7", "0-7", "0-7", 1000);
	assert_int_equal(decide(&machine), STEER_SPREAD);
	for (int i = 0; i < N_IRQS; i++) {
		assert_false(hwloc_bitmap_isset(machine.irqs[i].to, 6));
		assert_false(hwloc_bitmap_isset(machine.irqs[i].to, 7));
	}
	end(&machine);
}

/* An interrupt that Linux cannot move has come to CPU 0 all the time. */
static void cpus_that_had_much_before_get_nothing(void **state)
{
	struct machine machine;

	make(&machine, "0-7", "0-7", "0");
	machine.carried[0] = 1e6;
	machine.carried[1] = 50000;
	machine.cpus.n_carried = 2; /* CPUs 2-7 have had nothing */
	add(&machine, "0-7", "1", "0-7", 1000);
	assert_int_equal(decide(&machine), STEER_SPREAD);
	assert_to(&machine, 0, "2");
	end(&machine);
}

/* Without memory interrupts stay, or go back to where they were, and are not shared out. */
static void allocations_that_fail(void **state)
{
	struct machine machine;

	make(&machine, "2-5", "1-5", "0");
	add(&machine, "0-7", "3", "0-7", 5);
	for (unsigned n = 1; n <= 3; n++) {
		allocation_fail(n);
		decide(&machine);
		assert_true(allocation_failed());
		assert_to(&machine, 0, "3");
	}
	allocation_fail(4);
	assert_int_equal(decide(&machine), STEER_FREE);
	assert_false(allocation_failed());
	allocation_fail(0);
	end(&machine);
	make(&machine, "0-7", "0-7", "");
	add(&machine, "0-7", "0-7", "0-7", 5000);
	for (unsigned n = 4; n <= 5; n++) {
		allocation_fail(n);
		assert_int_equal(decide(&machine), STEER_SPREAD);
		assert_true(allocation_failed());
		assert_to(&machine, 0, "0-7");
	}
	allocation_fail(0);
	end(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(free_cores_come_first),
		cmocka_unit_test(then_os_cpus),
		cmocka_unit_test(unknown_cpus_are_busy),
		cmocka_unit_test(nothing_moves_that_need_not),
		cmocka_unit_test(all_comes_back),
		cmocka_unit_test(a_job_with_all_cores_has_its_share_on_each),
		cmocka_unit_test(few_heavy_ones_take_turns),
		cmocka_unit_test(small_differences_are_no_reason_to_move),
		cmocka_unit_test(idle_ones_stay),
		cmocka_unit_test(another_jobs_cpus_get_none),
		cmocka_unit_test(cpus_that_had_much_before_get_nothing),
		cmocka_unit_test(allocations_that_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
