/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a kind of LWK can do for us. One driver, one struct driver; the steps
 * know nothing else of it.
 *
 * Operations return 0 (or what they say) or a negative errno. 'dev' is what open()
 * gave. What is lent and to whom is kept by the driver's kernel module and outlives us.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "modeswitch/counters.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "modeswitch/watch.h"

struct lwk_counter;

struct instance_info {
	uint32_t job_id;
	bool failed;	   /* it panicked, or hangs */
	const char *state; /* a word for people: "RUNNING" */
	char message[128]; /* why it does not run */
};

/* How an instance that exists is watched; 'fd' is what open() gave. Errors as below. */
struct watching {
	int (*open)(const char *device);
	int (*info)(int fd, struct ms_instance_info *info);
	/* -ENODATA: there is none (any more). Fills all but when_ns. */
	int (*usage)(int fd, struct ms_usage *usage);
	ssize_t (*console)(int fd, uint64_t *position, char *text, size_t size);
	/* Makes the eventfd count this event, until fd is closed. */
	int (*listen)(int fd, enum ms_event event, int eventfd);
	int (*freeze)(int fd, bool frozen, unsigned timeout_ms);
	/* 'counters' come from counters_place(); none: removes those there are. */
	int (*set_counters)(int fd, const struct lwk_counter *counters, size_t n);
	/* -ENOENT: there are none. */
	int (*run_counters)(int fd, bool run);
	int (*read_counters)(int fd, struct ms_counters *counters);
};

#define DUMP_MAX_CPUS 256
#define DUMP_MAX_SEGMENTS 32

/* The memory of an LWK's kernel: addresses are physical but for 'address', the LWK's own. */
struct dump_layout {
	uint64_t start, bytes, address;
	size_t n_segments; /* parts of it that the LWK has at other addresses too */
	struct dump_segment {
		uint64_t address, start, bytes;
	} segments[DUMP_MAX_SEGMENTS];
};

struct dump_cpu {
	unsigned cpu; /* Linux's number */
	struct user_regs_struct registers;
};

/*
 * How the kernel of an instance is dumped while it exists, running or not; 'dev' as below.
 * -ENOENT: that is not the job's instance (any more), -ENODATA: nothing is loaded. They
 * allocate nothing.
 */
struct dumping {
	int (*layout)(int dev, unsigned instance, uint32_t job_id, struct dump_layout *layout);
	/* Copies from 'offset' after 'start'; the number of bytes, 0 behind the end. */
	ssize_t (*read)(int dev, unsigned instance, uint32_t job_id, uint64_t offset, void *buffer,
			size_t size);
	/* Those CPUs whose registers are known, the one that panicked first; how many. */
	ssize_t (*registers)(int dev, unsigned instance, uint32_t job_id,
			     struct dump_cpu cpus[DUMP_MAX_CPUS]);
};

struct driver {
	const char *name;
	const char *module;	/* what to load when open() says -ENOENT */
	const char *device_dir; /* its instances' devices are numbers in here */

	/* -ENOENT: its module is not loaded. Other failures come with a text. */
	int (*open)(struct ms_error *err);
	void (*close)(int dev);

	/* Takes a CPU from Linux, gives it back. */
	int (*lend_cpu)(int dev, unsigned cpu);
	int (*return_cpu)(int dev, unsigned cpu);
	/* Enters memory blocks that are off-line. */
	int (*lend_blocks)(int dev, uint64_t start, uint64_t bytes, unsigned node);
	/* Takes one contiguous run from Linux: -ENOMEM when there is none. Can take seconds. */
	int (*lend_run)(int dev, uint64_t bytes, unsigned node, uint64_t *start);
	int (*return_memory)(int dev, uint64_t start, uint64_t bytes);
	/* All that is lent, CPUs first; free(). */
	int (*ledger)(int dev, struct ms_lent **lent, size_t *n);

	/* The new instance's number. KernelCalls= as lwk.conf has it. */
	int (*create)(int dev, uint32_t job_id, uid_t uid, bool kernel_calls);
	/* Stops it if need be; what it had is lent to nobody afterwards. */
	int (*destroy)(int dev, unsigned instance);
	int (*assign_cpu)(int dev, unsigned instance, unsigned cpu, unsigned doorbell_cpu);
	int (*assign_memory)(int dev, unsigned instance, uint64_t start, uint64_t bytes);
	/* Puts whoever becomes a proxy into these cgroups (cgroup.procs files); NULL: cannot. */
	int (*confine)(int dev, unsigned instance, const int *fds, size_t n);
	int (*load)(int dev, unsigned instance, const void *image, size_t size);
	int (*boot)(int dev, unsigned instance, const char *args, unsigned timeout_ms);
	int (*shutdown)(int dev, unsigned instance);
	/* -ENOENT: there is no such instance. */
	int (*info)(int dev, unsigned instance, struct instance_info *info);
	/* Numbers are below this. */
	unsigned max_instances;
	/* Console text from *position on, which is moved; the number of bytes. */
	ssize_t (*kmsg)(int dev, unsigned instance, uint64_t *position, char *text, size_t size);
	/* How long a CPU may show no sign of life before the instance is hung; NULL: fixed. */
	int (*hang_limit)(int dev, unsigned instance, unsigned limit_ms);

	const struct watching *watching;
	const struct dumping *dumping; /* NULL: cannot */
};

extern const struct driver driver_lwkpart;

const struct driver *driver_find(const char *name);
/* "lwkpart, ihk" */
void driver_names(char *text, size_t size);
/* Every driver in turn, NULL after the last. */
const struct driver *driver_number(size_t i);

/* The job's instance, or -1. */
int driver_instance_of_job(const struct driver *driver, int dev, uint32_t job_id);

/* The console text, its last 'size' - 1 bytes at most, NUL terminated; "" when there is none. */
void driver_console_tail(const struct driver *driver, int dev, unsigned instance, char *text,
			 size_t size);

#endif
