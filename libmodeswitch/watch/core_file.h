/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF core file as gdb reads it: the memory at the addresses that the LWK has it, and the
 * registers of each CPU that has saved them, as a thread with the CPU's number. A driver may write
 * another form (write_file of struct dumping).
 */
#ifndef CORE_FILE_H
#define CORE_FILE_H

#include <stdint.h>

#include "driver/driver.h"

/* The LWK whose memory is written; the driver has 'dumping'. */
struct core_source {
	const struct driver *driver;
	int dev;
	unsigned instance;
	uint32_t job_id;
};

/*
 * Makes a new file below the directory 'dir' and writes the dump into it; removes the file when
 * that fails. Allocates nothing itself, so that it can run in child_call_alone(). 0 or a negative
 * errno.
 */
int core_file_write(const struct core_source *source, int dir, const char *name);
/* Removes what a call of core_file_write() that was killed has left. */
void core_file_discard(int dir, const char *name);
/* Says for a result of core_file_write() why there is no dump, and what helps. */
const char *core_file_reason(int error);

#endif
