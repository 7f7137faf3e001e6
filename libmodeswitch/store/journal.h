/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal of a job: which steps were done and must be undone. It is one file per job with one
 * JSON object and its checksum per line, and each line twice, so that damage to one of the two loses
 * nothing. The first names the job's owner and driver; every other one names a step, with the
 * details that its undo needs. A line is on disk before its step is done, so an undo may find that
 * the step was never done. A last line that was not written whole is ignored, because its step was
 * not begun; the first line may be the last. An object of which no line can be read is damage.
 *
 * "n" counts the objects from 0, so that one that is missing is noticed. A journal of version 1,
 * which has each line once and no "n", is read, too.
 *
 * Calls return 0, or -1 with *err, where no other result is named.
 */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <json-c/json.h>

#include "base/found.h"
#include "modeswitch/error.h"

#define JOURNAL_VERSION 2

/* The process that began a journal. */
struct maker {
	pid_t pid;	  /* 0: the journal does not tell, because an earlier version began it */
	uint64_t started; /* in clock ticks since the boot: its number may be another's later */
	char name[32];	  /* of its program */
};

struct journal {
	uint32_t job_id;
	uid_t uid;
	uint64_t version; /* JOURNAL_VERSION, or a newer release's; 0: it is unknown */
	char driver[16];  /* "": the first line was not written whole */
	struct maker maker;
	int fd;			     /* -1: opened for reading */
	int64_t last;		     /* the last object's number; -1: there is none */
	unsigned damaged_line;	     /* the first damaged line; 0: none; 1: the owner is unknown */
	struct json_object *entries; /* array of the objects after the first */
};

/* Begins a job's journal; it must not have one. journal_close() frees *out. */
int journal_create(uint32_t job_id, uid_t uid, const char *driver, struct journal **out,
		   struct ms_error *err);
/* Reads a job's journal. After FOUND, journal_close() frees *out. */
enum found journal_open(uint32_t job_id, struct journal **out, struct ms_error *err);

/* Finds the process that began the job's journal. False: the job has none, or it does not tell. */
bool journal_maker(uint32_t job_id, struct maker *maker);
/* True as long as the process runs. */
bool maker_lives(const struct maker *maker);

/* Adds an object for a step. 'details', an object or NULL, becomes the journal's, also on failure. */
int journal_record(struct journal *journal, const char *step, struct json_object *details,
		   struct ms_error *err);

void journal_close(struct journal *journal);
/* Removes a job's journal when nothing is left to undo. */
int journal_remove(uint32_t job_id, struct ms_error *err);

/* Return a member of an object; "" or 0 when it is missing. The text belongs to the object. */
const char *journal_text(struct json_object *object, const char *key);
uint64_t journal_number(struct json_object *object, const char *key);

#endif
