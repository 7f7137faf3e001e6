// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes an instance with two CPUs and memory, for the tests of its next states. */
#include "abi.h"

bool set_up(struct partition *partition)
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
