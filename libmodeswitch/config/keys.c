// SPDX-License-Identifier: GPL-2.0-or-later
#include "config/keys.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "driver/driver.h"
#include "modeswitch/config.h"

#define MAX_SECONDS 3600
#define MIN_PIDS 8
#define MAX_PIDS 4194304 /* the most the kernel can have */

static int parse_count(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number > 4096)
		return ms_fail(err, "expected a number from 0 to 4096, found \"%s\"", text);
	*(unsigned *)field = number;
	return 0;
}

static int parse_seconds(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number < 1 || number > MAX_SECONDS)
		return ms_fail(err, "expected seconds, 1 to %d, found \"%s\"", MAX_SECONDS, text);
	*(unsigned *)field = number * 1000;
	return 0;
}

static int parse_keep_seconds(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number > MAX_SECONDS)
		return ms_fail(err, "expected seconds, 0 to %d, found \"%s\"", MAX_SECONDS, text);
	*(unsigned *)field = number;
	return 0;
}

static int parse_size(const char *text, void *field, size_t size, struct ms_error *err)
{
	return ms_parse_size(text, field, err);
}

static int parse_proxy_memory(const char *text, void *field, size_t size, struct ms_error *err)
{
	return ms_parse_proxy_memory(text, field, err);
}

static int parse_percent(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || strcmp(end, "%") != 0 || number < 1 || number > 100)
		return ms_fail(err, "expected 1%% to 100%%, found \"%s\"", text);
	*(unsigned *)field = number;
	return 0;
}

static int parse_pids(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number < MIN_PIDS || number > MAX_PIDS)
		return ms_fail(err, "expected a number from %d to %d, found \"%s\"", MIN_PIDS,
			       MAX_PIDS, text);
	*(unsigned *)field = number;
	return 0;
}

static int parse_required(const char *text, void *field, size_t size, struct ms_error *err)
{
	bool required = strcasecmp(text, "require") == 0;

	if (!required && strcasecmp(text, "available") != 0)
		return ms_fail(err, "expected require or available, found \"%s\"", text);
	*(bool *)field = required;
	return 0;
}

static int parse_vulnerabilities(const char *text, void *field, size_t size, struct ms_error *err)
{
	bool accept = strcasecmp(text, "accept") == 0;

	if (!accept && strcasecmp(text, "refuse") != 0)
		return ms_fail(err, "expected refuse or accept, found \"%s\"", text);
	*(bool *)field = accept;
	return 0;
}

static int parse_cpus(const char *text, void *field, size_t size, struct ms_error *err)
{
	return ms_parse_cpus(text, *(hwloc_bitmap_t *)field, err);
}

static int parse_nodes(const char *text, void *field, size_t size, struct ms_error *err)
{
	hwloc_bitmap_t *nodes = field, list;
	struct ms_error ignored;

	if (strcasecmp(text, "auto") == 0) {
		*nodes = NULL;
		return 0;
	}
	list = hwloc_bitmap_alloc();
	if (!list)
		return ms_fail(err, "out of memory");
	if (strcasecmp(text, "none") != 0 && (!*text || ms_parse_cpus(text, list, &ignored) < 0)) {
		hwloc_bitmap_free(list);
		return ms_fail(err,
			       "expected auto, none, or a list of NUMA nodes such as 0,2-3, found "
			       "\"%s\"",
			       text);
	}
	*nodes = list;
	return 0;
}

static int parse_numa(const char *text, void *field, size_t size, struct ms_error *err)
{
	return ms_parse_numa(text, field, err);
}

static int parse_text(const char *text, void *field, size_t size, struct ms_error *err)
{
	size_t length = strlen(text);

	for (const char *c = text; *c; c++) {
		if (!isprint((unsigned char)*c))
			return ms_fail(err, "expected printable ASCII, found the byte 0x%02x",
				       (unsigned char)*c);
	}
	if (length >= size)
		return ms_fail(err, "expected at most %zu characters, found %zu", size - 1, length);
	memcpy(field, text, length + 1);
	return 0;
}

static int parse_path(const char *text, void *field, size_t size, struct ms_error *err)
{
	if (*text != '/')
		return ms_fail(err, "expected an absolute path, found \"%s\"", text);
	return parse_text(text, field, size, err);
}

static int parse_path_or_none(const char *text, void *field, size_t size, struct ms_error *err)
{
	return *text ? parse_path(text, field, size, err) : parse_text(text, field, size, err);
}

static int parse_directory(const char *text, void *field, size_t size, struct ms_error *err)
{
	if (strcasecmp(text, "no") == 0)
		return parse_text("", field, size, err);
	if (*text != '/')
		return ms_fail(err,
			       "expected no, or the absolute path of a directory, found \"%s\"",
			       text);
	return parse_text(text, field, size, err);
}

static int parse_driver(const char *text, void *field, size_t size, struct ms_error *err)
{
	char names[256];

	if (driver_find(text))
		return parse_text(text, field, size, err);
	driver_names(names, sizeof(names));
	return ms_fail(err, "expected one of: %s, found \"%s\"", names, text);
}

static int parse_yes_no(const char *text, void *field, size_t size, struct ms_error *err)
{
	bool yes = strcasecmp(text, "yes") == 0;

	if (!yes && strcasecmp(text, "no") != 0)
		return ms_fail(err, "expected yes or no, found \"%s\"", text);
	*(bool *)field = yes;
	return 0;
}

#define FIELD(type, field) offsetof(struct type, field), sizeof(((struct type *)0)->field)

const struct key node_keys[] = {
	{ "LinuxCpus", parse_count, FIELD(ms_config, linux_cpus), "1" },
	{ "LinuxMemory", parse_size, FIELD(ms_config, linux_memory), "64M" },
	{ "OsCpus", parse_cpus, FIELD(ms_config, os_cpus), "0" },
	{ "SystemNodes", parse_nodes, FIELD(ms_config, system_nodes), "auto" },
	{ "Numa", parse_numa, FIELD(ms_config, numa), "local" },
	{ "VacateRate", parse_size, FIELD(ms_config, vacate_rate), "0" },
	{ "VacateCpu", parse_percent, FIELD(ms_config, vacate_cpu), "100%" },
	{ "Rehome", parse_yes_no, FIELD(ms_config, rehome), "yes" },
	{ "RehomeRate", parse_size, FIELD(ms_config, rehome_rate), "0" },
	{ "RehomeCpu", parse_percent, FIELD(ms_config, rehome_cpu), "10%" },
	{ "BootTimeout", parse_seconds, FIELD(ms_config, boot_timeout_ms), "10" },
	{ "HangTimeout", parse_seconds, FIELD(ms_config, hang_timeout_ms), "10" },
	{ "SwitchTimeout", parse_seconds, FIELD(ms_config, switch_timeout_ms), "60" },
	{ "DumpOnPanic", parse_directory, FIELD(ms_config, dump_on_panic), "no" },
	{ "KeepWarm", parse_keep_seconds, FIELD(ms_config, keep_warm), "0" },
	{ "KernelCalls", parse_yes_no, FIELD(ms_config, kernel_calls), "yes" },
	{ "ProxyLimits", parse_required, FIELD(ms_config, proxy_limits_required), "available" },
	{ "ProxyMemory", parse_proxy_memory, FIELD(ms_config, proxy_memory), "128M" },
	{ "ProxyMemoryPerGB", parse_size, FIELD(ms_config, proxy_memory_per_gb), "4M" },
	{ "ProxyMemoryMax", parse_proxy_memory, FIELD(ms_config, proxy_memory_max), "1G" },
	{ "ProxyCpu", parse_percent, FIELD(ms_config, proxy_cpu), "50%" },
	{ "ProxyWeight", parse_percent, FIELD(ms_config, proxy_weight), "5%" },
	{ "ProxyPids", parse_pids, FIELD(ms_config, proxy_pids), "1024" },
	{ "Vulnerabilities", parse_vulnerabilities, FIELD(ms_config, accept_vulnerabilities),
	  "refuse" },
	{ NULL },
};

const struct key image_keys[] = {
	{ "Driver", parse_driver, FIELD(ms_image, driver), "lwkpart" },
	{ "Path", parse_path, FIELD(ms_image, path), NULL },
	{ "Args", parse_text, FIELD(ms_image, args), "" },
	{ "Library", parse_path_or_none, FIELD(ms_image, library), "" },
	{ "Launcher", parse_path_or_none, FIELD(ms_image, launcher), "" },
	{ "Default", parse_yes_no, FIELD(ms_image, is_default), "no" },
	{ NULL },
};

void set_fallbacks(const struct key *keys, void *object)
{
	struct ms_error ignored;

	for (; keys->name; keys++) {
		if (keys->fallback)
			keys->parse(keys->fallback, (char *)object + keys->offset, keys->size,
				    &ignored);
	}
}
