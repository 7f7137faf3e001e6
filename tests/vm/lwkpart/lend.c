// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests LEND_CPU, LEND_MEM, RETURN_CPU, RETURN_MEM and GET_LEDGER.
 */
#include <errno.h>
#include <string.h>

#include "abi.h"

void test_bad_lend(void)
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

void test_cpus(void)
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

void test_contig(void)
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

void test_block(void)
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

void test_ledger(void)
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
