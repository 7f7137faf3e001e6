/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of this program share TAP output, requests to /dev/lwkpart, the machine's CPUs and
 * memory, and LWK images. Each group of ioctls has a file of tests.
 */
#ifndef LWKPART_TEST_ABI_H
#define LWKPART_TEST_ABI_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define CONTIG_BYTES (64UL << 20)
#define MAX_LEDGER 1024
#define JOB 4711

extern int device;				       /* /dev/lwkpart, or -1 */
extern unsigned int cpu_a, cpu_b;		       /* the two CPUs that are lent */
extern unsigned int node;			       /* their NUMA node, and that of the memory */
extern struct lwkpart_ledger_entry ledger[MAX_LEDGER]; /* filled by get_ledger() */

/* ---- tap.c ---- */
extern unsigned int checks, failures;
/* Prints a line of TAP. Returns 'passed'. */
bool check(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Checks that an ioctl ended as wanted; both are 0 or an errno. */
bool check_result(int got, int wanted, const char *what);
void bail_out(const char *why) __attribute__((noreturn));

/* ---- requests.c; unless they return something else, 0 or an errno ---- */
int call(unsigned long command, void *argument);
int lend_cpu(unsigned int cpu);
int return_cpu(unsigned int cpu);
/* Lends CONTIG memory; its address goes to *start. */
int lend_contig(__u64 *start, __u64 size);
int lend_block(__u64 start, __u64 size);
int return_memory(__u64 start, __u64 size);
int create(__u32 *instance);
int assign_cpu(__u32 instance, unsigned int cpu);
int assign_memory(__u32 instance, __u64 start, __u64 size);
int load(__u32 instance, const void *image, size_t size);
int boot(__u32 instance, unsigned int timeout_ms);
int shut_down(__u32 instance);
int destroy(__u32 instance);
struct lwkpart_instance_info get_instance(__u32 instance);
bool has_state(__u32 instance, enum lwk_state state);
struct lwkpart_info get_info(void);
/* Fills 'ledger'. Returns the number of its entries. */
unsigned int get_ledger(void);
/* An ioctl on an open file of /dev/lwk/N. */
int call_instance(int fd, unsigned long command, void *argument);
/* Gives back all that is lent; true when nothing is left. */
bool undo(void);

/* One request with a bad argument. */
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

/* Checks that each request fails as wanted. */
void run_bad_calls(struct bad_call *calls, size_t count);
#define RUN_BAD_CALLS(calls) run_bad_calls(calls, ARRAY_SIZE(calls))

/* ---- machine.c; unless they return something else, 0 or an errno ---- */
/* Chooses cpu_a, cpu_b and node. */
void choose_cpus(void);
bool cpu_is_online(unsigned int cpu);
/* 'online' is "0" or "1". */
int set_cpu(unsigned int cpu, const char *online);
/* 'state' is "online" or "offline". */
int set_block(__u64 start, const char *state);
/* Takes a memory block of 'node' off-line; its address, or 0 when none can go. */
__u64 offline_block(void);
/* Describes the machine's CPUs and memory. */
void read_machine(char *text, size_t size);
/* Tries to unload the module, which works only when nothing is lent. */
bool can_unload(void);

/* ---- images.c ---- */
/* LWKs of a few instructions. */
extern const char spinning_lwk[], spinning_lwk_end[];
extern const char panicking_lwk[], panicking_lwk_end[];
extern const char silent_lwk[], silent_lwk_end[]; /* panics, too, and tells no registers */

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char code[64];
};

struct image make_image(const char *code, const char *end);
/* Reads a whole file; the caller frees it. */
char *read_image(const char *path, size_t *size);

/* ---- partition.c ---- */
/* An instance with cpu_a and cpu_b, and the memory lent to it (block: 0 for none). */
struct partition {
	__u32 instance;
	__u64 contig, block;
};

/* Lends and assigns it all. False, after a failed check, when something does not work. */
bool set_up(struct partition *partition);

/* ---- the tests ---- */
void test_permission(void);
void test_commands(void);
void test_bad_lend(void);
void test_cpus(void);
void test_contig(void);
void test_block(void);
void test_ledger(void);
void test_bad_instance(void);
void test_instances(void);
void test_doorbell_cpu(void);
void test_bad_assign(const struct partition *partition);
void test_confine(void);
void test_bad_images(__u32 instance);
void test_bad_lwks(void);
void test_watching(void);
void test_counters(__u32 instance);
void test_kmsg(__u32 instance);
void test_dump(__u32 instance);
void test_long_dump(const struct partition *partition);
void test_move(void);
void test_life(const char *image, size_t size);
void test_joined(const char *image, size_t size);
void test_beside(const char *image, size_t size);
void test_killed(const char *image, size_t size);

#endif
