/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dumps: the memory of an LWK's kernel as an ELF core file.
 */
#ifndef DUMP_H
#define DUMP_H

#include "driver.h"

/*
 * Keeps the dump of a job's instance as DIRECTORY/lwk-JOB.core, instead of one that is there,
 * within limit_ms; a process of its own does it, because a file system may not answer. The
 * directory must be root's. Leaves no part of a dump. Root.
 */
int dump_keep(const struct driver *driver, int dev, unsigned instance, uint32_t job_id,
	      const char *directory, unsigned limit_ms, struct ms_error *err);

#endif
