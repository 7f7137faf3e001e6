/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dumps: the memory of an LWK's kernel as an ELF core file.
 */
#ifndef PANIC_DUMP_H
#define PANIC_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "store/journal.h"

/*
 * If the instance has failed and the journal's entry of the step that made it asks for a dump:
 * keeps it as DIRECTORY/lwk-JOB.core, instead of one that is there, within a limit of time; a
 * process of its own does it, because a file system may not answer. The directory must be root's.
 * Leaves no part of a dump. Root, with the lock of switching. True: *told says what became of it,
 * as does the node's log. Once for each job: its record says so, when it still is.
 */
bool dump_if_failed(const struct driver *driver, int dev, unsigned instance, uint32_t job_id,
		    struct json_object *entry, struct ms_error *told);

#endif
