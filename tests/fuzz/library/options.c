// SPDX-License-Identifier: GPL-2.0-or-later
/* The job's options: whatever a user writes behind them, in srun and in slurmd's prolog. */
#include "spank/options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "modeswitch/config.h"
#include "spank/command/mpi_place.h"
#include "spank/mpirun.h"

/* ---- what Slurm does ---- */

static struct spank_option *registered[16];
static size_t n_registered;
static char *given[16];
static spank_context_t context;

spank_context_t spank_context(void)
{
	return context;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *option)
{
	must(n_registered < 16);
	registered[n_registered++] = option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_option_getopt(spank_t sp, struct spank_option *option, char **argument)
{
	*argument = given[option->val];
	return *argument ? ESPANK_SUCCESS : ESPANK_ERROR;
}

/* The fuzzer is about options, not about the environment. */
void mpirun_forget(void)
{
}

/* The fuzzer does not start lwkctl either. */
int mpi_place_choose(const char *profile, struct ms_error *err)
{
	return 0;
}

void slurm_error(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	must(vsnprintf(text, sizeof(text), format, args) > 0);
	va_end(args);
}

/* ---- what the plugin does with the texts ---- */

static void use_as_request(void)
{
	struct ms_amount amount;
	struct ms_numa numa;
	struct ms_error err;
	const char *image;
	uint64_t bytes;

	if (options_lwk(NULL, &image) && *image && ms_image_name_valid(image))
		must(strlen(image) <= MS_IMAGE_NAME_MAX && !strchr(image, '/') && *image != '.');
	if (options_memory(NULL) && ms_parse_amount(options_memory(NULL), &amount, &err) == 0)
		must(amount.percent <= 100 && !(amount.percent && amount.bytes));
	if (options_numa(NULL) && ms_parse_numa(options_numa(NULL), &numa, &err) == 0) {
		must((numa.policy == MS_NUMA_BIND) == !!numa.nodes);
		must(!numa.nodes || hwloc_bitmap_last(numa.nodes) <= 65535);
		must(!numa.nodes || hwloc_bitmap_first(numa.nodes) >= 0);
		ms_numa_release(&numa);
	}
	if (options_proxy_memory(NULL) &&
	    ms_parse_proxy_memory(options_proxy_memory(NULL), &bytes, &err) == 0)
		must(bytes >= 8 << 20);
	options_launch(NULL);
	options_report(NULL);
	options_quiet(NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const spank_context_t contexts[] = { S_CTX_LOCAL, S_CTX_ALLOCATOR, S_CTX_REMOTE };
	struct input input = { data, size };

	context = contexts[take_byte(&input) % 3];
	n_registered = 0;
	must(options_register(NULL) == 0);
	while (input.left) {
		struct spank_option *option = registered[take_byte(&input) % n_registered];
		const char *text = take_text(&input);

		option->cb(option->val, option->has_arg == no_argument ? NULL : text,
			   context == S_CTX_REMOTE);
		free(given[option->val]);
		given[option->val] = strdup(text);
	}
	options_check();
	use_as_request();
	for (size_t i = 0; i < 16; i++) {
		free(given[i]);
		given[i] = NULL;
	}
	return 0;
}
