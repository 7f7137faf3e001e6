/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of a driver, which speaks to one kind of LWK. Nothing outside driver/ knows more of
 * a driver than its struct driver.
 *
 * Operations return 0, or what their comments say, or a negative errno. 'dev' is the file
 * descriptor from open(). The driver's kernel module keeps the ledger of what is lent, which
 * outlives us.
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
	bool failed;	   /* the instance has panicked or hangs */
	bool idle;	   /* nothing has been loaded into the instance */
	bool memory_clear; /* the memory has nothing of those who had it before */
	const char *state; /* a word for people: "RUNNING" */
	char message[128]; /* the reason if it does not run */
};

/*
 * Operations to watch an instance; 'fd' is the file descriptor from open() here. The members from
 * 'usage' on, except 'console', may be NULL: this kind of LWK cannot do that, or does not tell it.
 */
struct watching {
	int (*open)(const char *device);
	int (*info)(int fd, struct ms_instance_info *info);
	/* Fills all but when_ns. -ENODATA: the instance has none, or has ended. */
	int (*usage)(int fd, struct ms_usage *usage);
	ssize_t (*console)(int fd, uint64_t *position, char *text, size_t size);
	/* Makes the eventfd count this event, until fd is closed. */
	int (*listen)(int fd, enum ms_event event, int eventfd);
	int (*freeze)(int fd, bool frozen, unsigned timeout_ms);
	/*
	 * Waits until the instance fails, and ends its programs then: 1; or until it ends: 0. NULL: the
	 * LWK's kernel module ends them.
	 */
	int (*guard)(int fd);
	/* Sets counters from counters_place(); with n 0 removes all. */
	int (*set_counters)(int fd, const struct lwk_counter *counters, size_t n);
	/* -ENOENT: there are none. */
	int (*run_counters)(int fd, bool run);
	int (*read_counters)(int fd, struct ms_counters *counters);
};

#define DUMP_MAX_CPUS 256
#define DUMP_MAX_SEGMENTS 32

/* The memory of an LWK's kernel: 'start' is physical, 'address' the LWK's virtual address. */
struct dump_layout {
	uint64_t start, bytes, address;
	size_t n_segments; /* parts of it that the LWK also maps elsewhere */
	struct dump_segment {
		uint64_t address, start, bytes;
	} segments[DUMP_MAX_SEGMENTS];
};

struct dump_cpu {
	unsigned cpu; /* Linux's number */
	struct user_regs_struct registers;
};

/*
 * Operations to dump the kernel of an instance, running or not. -ENOENT: the instance is not the
 * job's, or not any more; -ENODATA: nothing is loaded. The first three allocate no memory.
 */
struct dumping {
	int (*layout)(int dev, unsigned instance, uint32_t job_id, struct dump_layout *layout);
	/* Copies memory from 'start' + 'offset' on. Returns the bytes copied, 0 behind the end. */
	ssize_t (*read)(int dev, unsigned instance, uint32_t job_id, uint64_t offset, void *buffer,
			size_t size);
	/*
	 * Fills in the CPUs whose registers are known, first the one that panicked; their number.
	 */
	ssize_t (*registers)(int dev, unsigned instance, uint32_t job_id,
			     struct dump_cpu cpus[DUMP_MAX_CPUS]);
	/*
	 * Makes the whole file, which does not exist yet, in a form of its own; may wait for the LWK. Not
	 * NULL: this kind of LWK has no other way, and the operations above are missing.
	 */
	int (*write_file)(int dev, unsigned instance, uint32_t job_id, const char *path);
};

/* A finding of check(): the members of struct ms_finding, of which 'to_do' is NULL with FINE. */
enum driver_level { DRIVER_FINE, DRIVER_NOTE, DRIVER_PROBLEM };
typedef void (*driver_tell)(enum driver_level level, const char *subject, const char *to_do,
			    const char *text, void *context);

struct driver {
	const char *name;
	const char *module;	   /* the module to load when open() returns -ENOENT */
	const char *device_prefix; /* the path of an instance's device, but for its number */

	/*
	 * Says which library a switch wants: Library= of lwk.conf, "" when it names none. 0, or -1
	 * with *err, for example because the library is not there. open() knows without it which
	 * one is in use. NULL: the driver needs none.
	 */
	int (*use_library)(const char *path, struct ms_error *err);
	/* -ENOENT: the module is not loaded. Other failures set *err; -EPROTO: of another ABI. */
	int (*open)(struct ms_error *err);
	/*
	 * Opens also a module of another ABI, which an upgrade left loaded for the LWKs that ran:
	 * only ledger, info, shutdown, destroy, return_cpu and return_memory may be asked of it.
	 * NULL: open() does.
	 */
	int (*open_any)(struct ms_error *err);
	void (*close)(int dev);

	/* Take a CPU from Linux; give it back. */
	int (*lend_cpu)(int dev, unsigned cpu);
	int (*return_cpu)(int dev, unsigned cpu);
	/*
	 * Enters memory blocks that are off-line in the ledger; 'start' and 'bytes' name them.
	 * NULL: all of its memory comes as runs, in multiples of 'memory_grain'.
	 */
	int (*lend_blocks)(int dev, uint64_t start, uint64_t bytes, unsigned node);
	uint64_t memory_grain; /* bytes; 0: a large page, 2 MB */
	/*
	 * Takes a contiguous run of memory from Linux; can take seconds. -ENOMEM: there is none.
	 * *start is its name in other calls: its address, if that is below 1 << 63.
	 */
	int (*lend_run)(int dev, uint64_t bytes, unsigned node, uint64_t *start);
	int (*return_memory)(int dev, uint64_t start, uint64_t bytes);
	/* Lists all that is lent, CPUs first; the caller frees *lent with free(). */
	int (*ledger)(int dev, struct ms_lent **lent, size_t *n);

	/*
	 * Returns the number of a new instance. 'kernel_calls' is KernelCalls= of lwk.conf;
	 * 'limited': its proxies have a limit of CPU time.
	 */
	int (*create)(int dev, uint32_t job_id, uid_t uid, bool kernel_calls, bool limited);
	/* Stops the instance if need be and removes it; what it had stays lent, to no instance. */
	int (*destroy)(int dev, unsigned instance);
	int (*assign_cpu)(int dev, unsigned instance, unsigned cpu, unsigned doorbell_cpu);
	int (*assign_memory)(int dev, unsigned instance, uint64_t start, uint64_t bytes);
	/* Moves each new proxy into these cgroups (open cgroup.procs files); NULL: cannot. */
	int (*confine)(int dev, unsigned instance, const int *fds, size_t n);
	int (*load)(int dev, unsigned instance, const void *image, size_t size);
	int (*boot)(int dev, unsigned instance, const char *args, unsigned timeout_ms);
	int (*shutdown)(int dev, unsigned instance);
	/* -ENOENT: there is no such instance. */
	int (*info)(int dev, unsigned instance, struct instance_info *info);
	/* All instances have numbers below this. */
	unsigned max_instances;
	/* Copies console text from *position on and moves *position; the number of bytes. */
	ssize_t (*kmsg)(int dev, unsigned instance, uint64_t *position, char *text, size_t size);
	/* Sets how long a CPU may give no sign of life before the instance hangs; NULL: fixed. */
	int (*hang_limit)(int dev, unsigned instance, unsigned limit_ms);
	/* An instance can hold a partition for the next job (KeepWarm=) without running. */
	bool keeps_warm;
	/*
	 * Looks for what keeps jobs from running here, and changes nothing. NULL: there is nothing.
	 */
	void (*check)(driver_tell tell, void *context);

	const struct watching *watching;
	const struct dumping *dumping; /* NULL: cannot */
};

extern const struct driver driver_lwkpart;
extern const struct driver driver_ihk;

/* Returns the driver of that name, or NULL. */
const struct driver *driver_find(const char *name);
/* Writes the names of all drivers, "lwkpart, ihk", to 'text'. */
void driver_names(char *text, size_t size);
/* Returns driver number i, counted from 0; NULL after the last. */
const struct driver *driver_number(size_t i);

/* Opens the driver to see what is lent and to give it back, also to a module of another ABI. */
int driver_open_any(const struct driver *driver, struct ms_error *err);

/* Returns the number of the job's instance, or MS_NO_INSTANCE. */
int driver_instance_of_job(const struct driver *driver, int dev, uint32_t job_id);

/* Copies the last 'size' - 1 bytes of console text, with a NUL; "" when there is none. */
void driver_console_tail(const struct driver *driver, int dev, unsigned instance, char *text,
			 size_t size);

#endif
