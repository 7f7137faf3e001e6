/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What has been done for a job and must be undone: one file per job, one JSON object per
 * line. The first line says whose it is, the others each name a step, with what its undo
 * needs to know. A line is written, durably, before what it tells is done; so an undo
 * may meet a thing that was never done. A last line without its end was never followed
 * by anything and is ignored; any other line that cannot be read is damage.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdint.h>
#include <sys/types.h>
#include <json-c/json.h>

#include "modeswitch/error.h"

struct journal {
	uint32_t job_id;
	uid_t uid;
	char driver[16];
	int fd;		       /* -1: only read */
	unsigned damaged_line; /* the first; 0: all could be read, 1: whose it is is unknown */
	struct json_object *entries; /* array; the same as in the file */
};

int journal_create(uint32_t job_id, uid_t uid, const char *driver, struct journal **out,
		   struct ms_error *err);
/* 1: read; 0: this job has none; -1: error. */
int journal_open(uint32_t job_id, struct journal **out, struct ms_error *err);

/* Adds a line. Takes 'details' (an object, or NULL) over. */
int journal_record(struct journal *journal, const char *step, struct json_object *details,
		   struct ms_error *err);

void journal_close(struct journal *journal);
/* Removes the file: there is nothing left to undo. */
int journal_remove(uint32_t job_id, struct ms_error *err);

/* A member of an object: "" or 0 when it is not there. */
const char *journal_text(struct json_object *object, const char *key);
uint64_t journal_number(struct json_object *object, const char *key);

#endif
