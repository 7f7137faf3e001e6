/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file jobs/ID.mpi: what the MPI programs of an LWK job have done so far, for the job's report.
 * ms_job_add_mpi() writes it; it goes with the job's record.
 */
#ifndef MPI_SUMS_H
#define MPI_SUMS_H

#include <stdint.h>
#include <json-c/json.h>

/* Returns the sums as an object; NULL: the job has none. */
struct json_object *mpi_sums_read(uint32_t job_id);

#endif
