// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modeswitch/config.h"
#include "modeswitch/error.h"

#define MAX_CPU 65535
/* A proxy cannot start with less, and its user could not tell why. */
#define MIN_PROXY_MEMORY (8UL << 20)

int ms_parse_size(const char *text, uint64_t *bytes, struct ms_error *err)
{
	static const char units[] = "KMGT";
	unsigned long long number;
	const char *unit;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (isdigit((unsigned char)*text) && !errno && ((unit && !end[1]) || (!number && !*end))) {
		unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;

		if (number <= UINT64_MAX >> shift) {
			*bytes = (uint64_t)number << shift;
			return 0;
		}
	}
	return ms_fail(err, "expected a size with its unit, such as 64M or 2G, found \"%s\"", text);
}

/*
 * Reads a decimal number up to MAX_CPU, and sets *end behind it. hwloc would read 010 as octal, and
 * make a set of gigabytes for a number that is large enough.
 */
static bool read_cpu(const char *text, unsigned long *cpu, char **end)
{
	if (!isdigit((unsigned char)*text))
		return false;
	*cpu = strtoul(text, end, 10);
	return *cpu <= MAX_CPU;
}

/* Adds "7" or "4-7" to the set. */
static bool add_range(const char *text, hwloc_bitmap_t cpus)
{
	unsigned long first, last;
	char *end;

	if (!read_cpu(text, &first, &end))
		return false;
	last = first;
	if (*end == '-' && !read_cpu(end + 1, &last, &end))
		return false;
	return !*end && first <= last && hwloc_bitmap_set_range(cpus, first, last) == 0;
}

int ms_parse_cpus(const char *text, hwloc_bitmap_t cpus, struct ms_error *err)
{
	char *copy = strdup(text), *rest = copy, *item;
	int ret = 0;

	hwloc_bitmap_zero(cpus);
	if (!copy)
		return ms_fail(err, "out of memory");
	while (*text && ret == 0 && (item = strsep(&rest, ",")))
		ret = add_range(item, cpus) ? 0 : -1;
	free(copy);
	if (ret < 0)
		return ms_fail(err, "expected a list of CPU numbers such as 0-3,8, found \"%s\"",
			       text);
	return 0;
}

int parse_mask(const char *text, hwloc_bitmap_t set)
{
	/*
	 * hwloc would also take "0x", and "0xf...f" for an infinite set; a comma at the start would
	 * end this process.
	 */
	if (!isxdigit((unsigned char)*text) || text[strspn(text, "0123456789abcdefABCDEF,")])
		return -1;
	return hwloc_bitmap_sscanf(set, text);
}

int ms_parse_amount(const char *text, struct ms_amount *amount, struct ms_error *err)
{
	struct ms_amount parsed = { 0 };
	struct ms_error ignored;
	size_t digits;

	if (strcmp(text, "all") == 0) {
		*amount = parsed;
		return 0;
	}
	digits = strspn(text, "0123456789");
	if (digits >= 1 && digits <= 3 && strcmp(text + digits, "%") == 0 &&
	    sscanf(text, "%3u", &parsed.percent) == 1 && parsed.percent >= 1 &&
	    parsed.percent <= 100) {
		*amount = parsed;
		return 0;
	}
	if (ms_parse_size(text, &parsed.bytes, &ignored) < 0 || !parsed.bytes)
		return ms_fail(err,
			       "expected all, 1%% to 100%%, or a size with its unit such as 512M, "
			       "found \"%s\"",
			       text);
	parsed.percent = 0;
	*amount = parsed;
	return 0;
}

int ms_parse_proxy_memory(const char *text, uint64_t *bytes, struct ms_error *err)
{
	struct ms_error ignored;

	if (ms_parse_size(text, bytes, &ignored) == 0 && *bytes >= MIN_PROXY_MEMORY)
		return 0;
	return ms_fail(err,
		       "expected a size with its unit, of 8M at least, such as 256M, found \"%s\"",
		       text);
}

int ms_parse_numa(const char *text, struct ms_numa *numa, struct ms_error *err)
{
	static const char bind[] = "bind=";
	struct ms_numa parsed = { 0 };
	struct ms_error ignored;

	if (strcmp(text, "local") == 0) {
		parsed.policy = MS_NUMA_LOCAL;
	} else if (strcmp(text, "interleave") == 0) {
		parsed.policy = MS_NUMA_INTERLEAVE;
	} else if (strncmp(text, bind, strlen(bind)) == 0) {
		parsed.policy = MS_NUMA_BIND;
		parsed.nodes = hwloc_bitmap_alloc();
		if (!parsed.nodes)
			return ms_fail(err, "out of memory");
		if (ms_parse_cpus(text + strlen(bind), parsed.nodes, &ignored) < 0 ||
		    hwloc_bitmap_iszero(parsed.nodes))
			ms_numa_release(&parsed);
	}
	if (parsed.policy == MS_NUMA_SITE)
		return ms_fail(err,
			       "expected local, interleave, or bind= with NUMA nodes such as "
			       "bind=0,2-3, found \"%s\"",
			       text);
	*numa = parsed;
	return 0;
}

void ms_numa_release(struct ms_numa *numa)
{
	hwloc_bitmap_free(numa->nodes);
	*numa = (struct ms_numa){ 0 };
}

const char *format_size(uint64_t bytes, char text[FORMAT_SIZE])
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
	size_t unit = 0;

	while (bytes && unit < 4 && !(bytes & 1023)) {
		bytes >>= 10;
		unit++;
	}
	snprintf(text, FORMAT_SIZE, "%ju %s", (uintmax_t)bytes, units[unit]);
	return text;
}
