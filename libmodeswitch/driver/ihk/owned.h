/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of IHK that LWK jobs have. IHK's modules do not remember the job that they have
 * reserved or made something for. The file ihk.json in the state directory names it, written before
 * IHK is asked and corrected afterwards. The lock of switching protects it.
 */
#ifndef OWNED_H
#define OWNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "driver/ihk/ihklib.h"

/* IHK does not tell addresses. Chunks have keys in their place, from here on. */
#define IHK_FIRST_KEY (1ULL << 63)
#define IHK_KEY_STEP (1ULL << 46)

struct owned_cpu {
	int cpu, instance, doorbell, node; /* instance -1: none */
};

struct owned_chunk {
	uint64_t key, bytes;
	int node, instance;
};

struct owned_instance {
	int os;
	uint32_t job_id;
	uid_t uid;
	bool booted; /* IHK may be asked for its status, which before and afterwards ends Linux */
	bool ending; /* IHK has been asked to end it, and takes its CPUs and memory */
};

struct owned {
	char library[4096]; /* lwk.conf's Library= when the first of all this was made */
	struct owned_cpu *cpus;
	struct owned_chunk *chunks;
	struct owned_instance *instances;
	size_t n_cpus, n_chunks, n_instances;
	/*
	 * The process that is reserving memory, or 0; the bytes and the node that it asks for; and
	 * the chunks that IHK had reserved before. If the process dies before it has recorded its
	 * chunk, the chunks that are not among those belong to the job.
	 */
	pid_t seeker;
	uint64_t
		seeker_started; /* in clock ticks since the boot: its number may be another's later */
	uint64_t sought;
	int sought_node;
	struct ihk_mem_chunk *before;
	size_t n_before;
};

/* 0 or a negative errno. owned_release() frees what *owned has. */
int owned_load(struct owned *owned);
int owned_save(const struct owned *owned);
void owned_release(struct owned *owned);
bool owned_is_empty(const struct owned *owned);

/*
 * Takes a lock. Processes that ask for the state of an instance share it, from owned_load() to the
 * answer. A process that begins to end an instance has it alone until ihk.json says so. Waits at
 * most wait_ms. Returns a file descriptor, which its holder closes; -EBUSY; or another negative
 * errno.
 */
int owned_lock(bool alone, unsigned wait_ms);

struct owned_cpu *owned_find_cpu(const struct owned *owned, int cpu);
struct owned_chunk *owned_find_chunk(const struct owned *owned, uint64_t key);
struct owned_instance *owned_find_instance(const struct owned *owned, int os);

/* Append and remove an element. The first three return 0 or -ENOMEM. */
int owned_add_cpu(struct owned *owned, int cpu, int node);
int owned_add_chunk(struct owned *owned, uint64_t bytes, int node);
int owned_add_instance(struct owned *owned, int os, uint32_t job_id, uid_t uid);
void owned_drop_cpu(struct owned *owned, struct owned_cpu *cpu);
void owned_drop_chunk(struct owned *owned, struct owned_chunk *chunk);
/* The CPUs and chunks of the instance stay, in no instance. */
void owned_drop_instance(struct owned *owned, struct owned_instance *instance);

#endif
