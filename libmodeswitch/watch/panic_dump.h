/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dump of a failed LWK that DumpOnPanic= asks for.
 */
#ifndef PANIC_DUMP_H
#define PANIC_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver.h"
#include "modeswitch/error.h"
#include "store/journal.h"

/*
 * If the instance has failed and 'entry', the journal's of the step that made it, asks for a dump:
 * writes DIRECTORY/lwk-JOB.core, and replaces an older one. The directory must be root's. A process
 * of its own writes, within a limit of time, because a file system may not answer; no part of a
 * dump stays. Writes one dump for each job: the job's record says that
 * it is done. True: *told says what
 * became of the dump, as does the node's log. Root, with the lock of switching held.
 */
bool dump_if_failed(const struct driver *driver, int dev, unsigned instance, uint32_t job_id,
		    struct json_object *entry, struct ms_error *told);

#endif
