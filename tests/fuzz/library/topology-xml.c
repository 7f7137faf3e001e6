// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `lwkctl plan --topology` with any bytes for the file. hwloc, which has no instrumentation and may
 * die of them, does so in a child process; this process must have a topology that can be used, or a
 * message.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <sanitizer/common_interface_defs.h>

#include "config/configuration.h"
#include "fuzz.h"
#include "library/draw.h"
#include "library/files.h"
#include "modeswitch/plan.h"

/* An error that the sanitizers find in the child is hwloc's. */
static void die_quietly(void)
{
	__sanitizer_set_death_callback(NULL);
}

static struct ms_config *make_config(void)
{
	static char text[] = "[image lwk]\nPath=/lwk.elf\n";
	struct ms_config *config = NULL;
	struct ms_error err;
	FILE *file = fmemopen(text, strlen(text), "r");

	pthread_atfork(NULL, NULL, die_quietly);
	must(file && config_parse(file, "lwk.conf", &config, &err) == 0);
	fclose(file);
	return config;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ms_config *config;
	struct ms_request request = { .memory = 1UL << 30, .cpus = hwloc_bitmap_alloc() };
	struct ms_plan *plan;
	struct ms_error err;
	char path[128];

	if (!config)
		config = make_config();
	files_put("machine.xml", data, size);
	snprintf(path, sizeof(path), "%s/machine.xml", files_directory());
	hwloc_bitmap_set_range(request.cpus, 1, 3);
	*err.text = '\0';
	if (ms_plan_make(config, &request, path, &plan, &err) == 0) {
		draw_plan(path, config, plan);
		ms_plan_free(plan);
	} else {
		must(*err.text);
	}
	ms_numa_release(&request.numa);
	hwloc_bitmap_free(request.cpus);
	return 0;
}
