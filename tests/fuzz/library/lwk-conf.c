// SPDX-License-Identifier: GPL-2.0-or-later
/* lwk.conf: what an administrator types. */
#include <stdio.h>
#include <string.h>

#include "config/configuration.h"
#include "fuzz.h"

static void check(const struct ms_config *config)
{
	struct ms_error err;

	must(config->n_images && hwloc_bitmap_isset(config->os_cpus, 0));
	must(hwloc_bitmap_last(config->os_cpus) <= 65535);
	must(config->numa.policy != MS_NUMA_SITE);
	must(config->proxy_memory <= config->proxy_memory_max);
	for (size_t i = 0; i < config->n_images; i++) {
		const struct ms_image *image = &config->images[i];

		must(ms_image_name_valid(image->name) && *image->path == '/');
		must(ms_config_image(config, image->name, &err) == image);
	}
	ms_config_image(config, NULL, &err);
	ms_config_image(config, "nowhere", &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct ms_config *config;
	struct ms_error err = { "" };

	if (!file)
		return 0;
	if (config_parse(file, "lwk.conf", &config, &err) == 0) {
		check(config);
		ms_config_free(config);
	} else {
		must(*err.text);
	}
	fclose(file);
	return 0;
}
