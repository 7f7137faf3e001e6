// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl dump: writes the memory of an LWK's kernel to a file. */
#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

static int run(const struct options *options)
{
	struct ms_error err;
	uint32_t job_id;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (options->n_arguments < 2)
		return usage_error("a job and a file", "no file");
	return ms_dump(job_id, options->arguments[1], &err) < 0 ? fail(&err) : EXIT_OK;
}

const struct verb verb_dump = {
	.name = "dump",
	.summary = "Write the kernel memory of a job's LWK to a file (root)",
	.help = "Writes the memory of the kernel of JOB's LWK to FILE, which must not exist yet. gdb reads "
		"FILE with the ELF file of the LWK image. Root only.",
	.arguments = "JOB FILE",
	.most_arguments = 2,
	.for_root = true,
	.run = run,
};
