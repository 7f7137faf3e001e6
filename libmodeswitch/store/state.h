/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state directory: what this node must remember of its jobs until it reboots. Each file has one
 * writer:
 *   lock             state.c; held while a switch changes the machine
 *   cool.lock        switch/warm_watch.c, and quiet.lock interrupts/quiet/watch.c: held by the one
 *                    process of the node that watches
 *   topology.xml     machine/topology.c: the topology with nothing lent
 *   sysfs/           machine/sysview/: what Linux says of all CPUs; readable for everyone
 *   prepared.json    node/prepare/
 *   quiet.json       interrupts/quiet/
 *   ihk.json, ihk.lock  driver/ihk/owned.c
 *   fault            switch/fault.c: root orders a fault, as a test
 *   jobs/ID.begun    store/announced.c
 *   jobs/ID.journal  store/journal.c
 *   jobs/ID.json     store/record.c; readable for everyone
 *   jobs/ID.mpi      store/mpi_sums.c
 *   jobs/ID.away     migrate/home/away_list.c
 *   jobs/ID.sys/     machine/sysview/: the view of a job; readable for everyone
 * The directory is in /run because a reboot ends all that is recorded here.
 *
 * Calls return 0, or -1 with *err, unless their comments say otherwise.
 */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <json-c/json.h>

#include "modeswitch/error.h"

extern const char *state_dir; /* MS_STATE_DIR; tests change it */

#define FAULT_FILE "fault"

/* Makes the directories if need be and opens jobs/. Returns a file descriptor, or -1. */
int state_open_jobs(struct ms_error *err);
/*
 * Opens jobs/ for reading, for any user; makes no directory. A file descriptor, or -1 with errno.
 */
int state_open_jobs_readonly(void);

/*
 * Takes the lock of switching. Waits at most wait_ms milliseconds for each holder, not in all,
 * because many jobs may begin or end at the same moment and take turns. Returns a file descriptor
 * or -1. The lock is free again when it is closed here and in all children, or when these have
 * ended.
 */
int state_lock(unsigned wait_ms, struct ms_error *err);

/*
 * Takes another lock of the node, the file NAME in the state directory, which a process keeps as long
 * as it does what one process alone does. A file descriptor; -1: another process has it.
 */
int state_take(const char *name);

/*
 * Lists the ids of jobs that have a file jobs/ID with this suffix, ascending. Returns their number,
 * or -1. The caller frees *ids with free().
 */
ssize_t state_jobs(const char *suffix, uint32_t **ids, struct ms_error *err);

/* Returns true if that job has a journal or a record, or a switch of it is announced. */
bool state_knows_job(uint32_t job_id);

/* Writes jobs/NAME durably, whole or not at all. */
int state_replace_file(const char *name, const char *text, mode_t mode, struct ms_error *err);

/* Writes NAME in the state directory itself in the same way; only root can read it. */
int state_keep(const char *name, const char *text, struct ms_error *err);

/*
 * Reads the JSON object in NAME of the state directory; an empty one if there is no such file. The
 * caller frees *object with json_object_put(); it is NULL on failure. *err then says that 'what'
 * was wanted, and gives 'remedy' as what to do.
 */
int state_read(const char *name, const char *what, const char *remedy, struct json_object **object,
	       struct ms_error *err);

#endif
