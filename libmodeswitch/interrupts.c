// SPDX-License-Identifier: GPL-2.0-or-later
#include "interrupts.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "journal.h"
#include "json.h"

#define DEFAULT "default"

/* The file that lists the CPUs of an interrupt; the default has only one with a mask. */
static void affinity_path(const char *irq, char *path, size_t size)
{
	if (strcmp(irq, DEFAULT) == 0)
		snprintf(path, size, "/proc/irq/default_smp_affinity");
	else
		snprintf(path, size, "/proc/irq/%s/smp_affinity_list", irq);
}

/* The kernel's "ffff,00000001"; no "0x", and the commas are between 32 bits. */
static void format_mask(hwloc_const_bitmap_t cpus, char *text, size_t size)
{
	int last = hwloc_bitmap_last(cpus), at = 0;

	*text = '\0';
	for (int word = last < 0 ? 0 : last / 32; word >= 0 && at < (int)size; word--) {
		uint32_t bits = 0;

		for (int bit = 0; bit < 32; bit++)
			bits |= (uint32_t)hwloc_bitmap_isset(cpus, word * 32 + bit) << bit;
		at += snprintf(text + at, size - at, at ? ",%08x" : "%x", bits);
	}
}

static int parse_mask(const char *text, hwloc_bitmap_t cpus)
{
	unsigned words = 1, bits;

	for (const char *c = text; *c; c++)
		words += *c == ',';
	hwloc_bitmap_zero(cpus);
	for (; words; words--, text += strcspn(text, ","), text += *text == ',') {
		if (sscanf(text, "%8x", &bits) != 1)
			return -1;
		for (int bit = 0; bit < 32; bit++) {
			if (bits >> bit & 1)
				hwloc_bitmap_set(cpus, (words - 1) * 32 + bit);
		}
	}
	return 0;
}

static int parse_affinity(const char *irq, const char *text, hwloc_bitmap_t cpus)
{
	struct ms_error ignored;

	return strcmp(irq, DEFAULT) == 0 ? parse_mask(text, cpus)
					 : ms_parse_cpus(text, cpus, &ignored);
}

/* The kernel keeps one directory for each handler, named after it. */
static void find_name(const char *irq, char *name, size_t size)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	*name = '\0';
	snprintf(path, sizeof(path), "%s/proc/irq/%s", files_root, irq);
	dir = opendir(path);
	while (dir && !*name && (entry = readdir(dir))) {
		if (entry->d_type == DT_DIR && *entry->d_name != '.')
			snprintf(name, size, "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void look_at(const char *irq, hwloc_const_bitmap_t wanted, struct json_object *found)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	char path[PATH_MAX], was[8192], now[8192], name[256];
	struct json_object *object;

	affinity_path(irq, path, sizeof(path));
	if (!cpus || kernel_read(was, sizeof(was), "%s", path) <= 0 ||
	    parse_affinity(irq, was, cpus) < 0 || hwloc_bitmap_isincluded(cpus, wanted)) {
		hwloc_bitmap_free(cpus);
		return;
	}
	hwloc_bitmap_free(cpus);
	if (strcmp(irq, DEFAULT) == 0)
		format_mask(wanted, now, sizeof(now));
	else
		hwloc_bitmap_list_snprintf(now, sizeof(now), wanted);
	find_name(irq, name, sizeof(name));
	object = json_object_new_object();
	json_add_text(object, "irq", irq);
	json_add_text(object, "name", name);
	json_add_text(object, "was", was);
	json_add_text(object, "now", now);
	json_object_array_add(found, object);
}

static int only_numbers(const struct dirent *entry)
{
	return isdigit((unsigned char)*entry->d_name);
}

void interrupts_find(hwloc_const_bitmap_t cpus, struct json_object *found)
{
	struct dirent **entries = NULL;
	char path[PATH_MAX];
	int n;

	look_at(DEFAULT, cpus, found);
	snprintf(path, sizeof(path), "%s/proc/irq", files_root);
	n = scandir(path, &entries, only_numbers, versionsort);
	for (int i = 0; i < n; i++) {
		look_at(entries[i]->d_name, cpus, found);
		free(entries[i]);
	}
	free(entries);
}

int interrupt_set(struct json_object *interrupt)
{
	char path[PATH_MAX];

	affinity_path(journal_text(interrupt, "irq"), path, sizeof(path));
	return kernel_write(journal_text(interrupt, "now"), "%s", path);
}

int interrupt_restore(struct json_object *interrupt)
{
	const char *irq = journal_text(interrupt, "irq");
	hwloc_bitmap_t now = hwloc_bitmap_alloc(), ours = hwloc_bitmap_alloc();
	char path[PATH_MAX], text[8192];
	bool is_ours;

	affinity_path(irq, path, sizeof(path));
	is_ours = now && ours && kernel_read(text, sizeof(text), "%s", path) > 0 &&
		  parse_affinity(irq, text, now) == 0 &&
		  parse_affinity(irq, journal_text(interrupt, "now"), ours) == 0 &&
		  hwloc_bitmap_isequal(now, ours);
	hwloc_bitmap_free(now);
	hwloc_bitmap_free(ours);
	return is_ours ? kernel_write(journal_text(interrupt, "was"), "%s", path) : 0;
}
