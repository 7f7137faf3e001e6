/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/memory.h"

#include "lwkexec/instance/session.h"

static uint64_t bytes(uint64_t pages_4k, uint64_t pages_2m)
{
	return pages_4k * 4096 + pages_2m * (2UL << 20);
}

const struct lwk_cpu_memory *memory_of_process(void)
{
	return &session.status->cpu[session.index].memory;
}

uint64_t memory_resident(void)
{
	const struct lwk_cpu_memory *memory = memory_of_process();

	return bytes(memory->pages_4k, memory->pages_2m);
}

uint64_t memory_used_on(unsigned node)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < session.status->n_slots && i < LWK_MAX_SLOTS; i++) {
		const struct lwk_node_pages *pages = &session.status->cpu[i].memory.node[node];

		used += bytes(pages->pages_4k, pages->pages_2m);
	}
	return used;
}

uint64_t memory_used(void)
{
	uint64_t used = 0;

	for (unsigned node = 0; node < LWK_STATUS_NODES; node++)
		used += memory_used_on(node);
	return used;
}

uint64_t memory_kernel_used(void)
{
	uint64_t used = session.status->kernel_used;

	for (uint32_t i = 0; i < session.status->n_slots && i < LWK_MAX_SLOTS; i++)
		used += session.status->cpu[i].memory.kernel_bytes;
	return used;
}
