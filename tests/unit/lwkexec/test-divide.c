/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests dividing an LWK's CPUs among the ranks of a step. */
#include "unit/unit.h"

#include "lwkexec/base/divide.c"

#define MOST 64

/* CPUs of sockets with 'nodes' NUMA nodes each, these with 'cores' cores of 'threads' CPUs. */
struct machine {
	struct placed_cpu cpus[MOST];
	size_t n;
};

static void build(struct machine *machine, unsigned sockets, unsigned nodes, unsigned cores,
		  unsigned threads)
{
	unsigned n = sockets * nodes * cores * threads, all_cores = sockets * nodes * cores;

	machine->n = n;
	/* Linux counts the second threads of all cores after the first ones. */
	for (unsigned cpu = 0; cpu < n; cpu++) {
		unsigned core = cpu % all_cores;

		machine->cpus[n - 1 - cpu] =
			(struct placed_cpu){ { core / cores / nodes, core / cores, core, cpu } };
	}
	divide_sort(machine->cpus, n);
}

/* Takes away the first CPU, which stays with Linux. */
static void lend_all_but_one(struct machine *machine)
{
	memmove(machine->cpus, machine->cpus + 1, --machine->n * sizeof(machine->cpus[0]));
}

/* The shares of all ranks: "0,1 2,3". */
static const char *shares(const struct machine *machine, enum part by, unsigned ranks)
{
	static char text[1024];
	size_t length = 0;

	for (unsigned rank = 0; rank < ranks; rank++) {
		size_t n, first = divide(machine->cpus, machine->n, by, rank, ranks, &n);

		assert_in_range(n, 1, machine->n - first);
		for (size_t i = first; i < first + n; i++)
			length += snprintf(text + length, sizeof(text) - length, "%s%u",
					   i > first ? ","
					   : rank    ? " "
						     : "",
					   machine->cpus[i].in[PART_CPU]);
	}
	return text;
}

static void cpus_are_shared_out_evenly_and_in_order(void **state)
{
	struct machine machine;

	build(&machine, 1, 1, 8, 1);
	for (enum part by = PART_CORE; by <= PART_CPU; by++) {
		assert_string_equal(shares(&machine, by, 2), "0,1,2,3 4,5,6,7");
		assert_string_equal(shares(&machine, by, 3), "0,1 2,3,4 5,6,7");
		assert_string_equal(shares(&machine, by, 8), "0 1 2 3 4 5 6 7");
		assert_string_equal(shares(&machine, by, 1), "0,1,2,3,4,5,6,7");
	}
	lend_all_but_one(&machine);
	assert_string_equal(shares(&machine, PART_CORE, 2), "1,2,3 4,5,6,7");
}

static void a_core_belongs_to_one_rank_unless_there_are_more_ranks(void **state)
{
	struct machine machine;

	build(&machine, 1, 1, 3, 2);
	assert_string_equal(shares(&machine, PART_CORE, 2), "0,3 1,4,2,5");
	assert_string_equal(shares(&machine, PART_CPU, 2), "0,3,1 4,2,5");
	assert_string_equal(shares(&machine, PART_CORE, 4), "0 3 1,4 2,5");
	assert_string_equal(shares(&machine, PART_CORE, 6), "0 3 1 4 2 5");
}

static void a_socket_or_node_belongs_to_one_rank_or_is_divided(void **state)
{
	struct machine machine;

	build(&machine, 2, 2, 2, 1);
	assert_string_equal(shares(&machine, PART_SOCKET, 2), "0,1,2,3 4,5,6,7");
	assert_string_equal(shares(&machine, PART_NODE, 3), "0,1 2,3 4,5,6,7");
	assert_string_equal(shares(&machine, PART_NODE, 4), "0,1 2,3 4,5 6,7");
	assert_string_equal(shares(&machine, PART_SOCKET, 4), "0,1 2,3 4,5 6,7");
	/* By cores the first of two ranks would have a core of the second socket. */
	build(&machine, 2, 1, 4, 1);
	for (int i = 0; i < 2; i++)
		lend_all_but_one(&machine);
	assert_string_equal(shares(&machine, PART_CORE, 2), "2,3,4 5,6,7");
	assert_string_equal(shares(&machine, PART_SOCKET, 2), "2,3 4,5,6,7");
	assert_string_equal(shares(&machine, PART_SOCKET, 3), "2 3 4,5,6,7");
}

static void ranks_that_are_more_than_the_cpus_share_them(void **state)
{
	struct machine machine;

	build(&machine, 2, 1, 2, 1);
	for (enum part by = 0; by < PARTS; by++) {
		assert_string_equal(shares(&machine, by, 8), "0 0 1 1 2 2 3 3");
		assert_string_equal(shares(&machine, by, 5), "0 0 1 2 3");
	}
}

static void no_cpu_is_left_over_and_none_is_given_twice(void **state)
{
	struct machine machine;

	for (unsigned form = 0; form < 16; form++) {
		build(&machine, 1 + form % 2, 1 + form / 2 % 2, 1 + form / 4 % 4, 1 + form % 3);
		for (enum part by = 0; by < PARTS; by++) {
			for (unsigned ranks = 1; ranks <= machine.n; ranks++) {
				size_t behind = 0, n;

				for (unsigned rank = 0; rank < ranks; rank++) {
					assert_int_equal(divide(machine.cpus, machine.n, by, rank,
								ranks, &n),
							 behind);
					assert_true(n > 0);
					behind += n;
				}
				assert_int_equal(behind, machine.n);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpus_are_shared_out_evenly_and_in_order),
		cmocka_unit_test(a_core_belongs_to_one_rank_unless_there_are_more_ranks),
		cmocka_unit_test(a_socket_or_node_belongs_to_one_rank_or_is_divided),
		cmocka_unit_test(ranks_that_are_more_than_the_cpus_share_them),
		cmocka_unit_test(no_cpu_is_left_over_and_none_is_given_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
