// SPDX-License-Identifier: GPL-2.0-or-later
#include "interrupts/affinity.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "base/parse.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "store/journal.h"

#define DEFAULT "default"

/* The file with the CPUs of an interrupt: a list; the default has only a mask. */
static void affinity_path(const char *irq, char *path, size_t size)
{
	if (strcmp(irq, DEFAULT) == 0)
		snprintf(path, size, "/proc/irq/default_smp_affinity");
	else
		snprintf(path, size, "/proc/irq/%s/smp_affinity_list", irq);
}

/* Formats a mask as the kernel does, "ffff,00000001": no "0x", a comma between 32 bits. */
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

static int parse_affinity(const char *irq, const char *text, hwloc_bitmap_t cpus)
{
	struct ms_error ignored;

	return strcmp(irq, DEFAULT) == 0 ? parse_mask(text, cpus)
					 : ms_parse_cpus(text, cpus, &ignored);
}

/* The kernel keeps a directory for each handler of an interrupt, named after it. */
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

/* 'was' is 'cpus' as the kernel formats them. */
static void add(const char *irq, hwloc_const_bitmap_t cpus, const char *was,
		hwloc_const_bitmap_t wanted, struct json_object *found)
{
	struct json_object *object = json_object_new_object();
	char now[8192], name[256];

	if (strcmp(irq, DEFAULT) == 0)
		format_mask(wanted, now, sizeof(now));
	else
		hwloc_bitmap_list_snprintf(now, sizeof(now), wanted);
	find_name(irq, name, sizeof(name));
	json_add_text(object, "irq", irq);
	json_add_text(object, "name", name);
	json_add_text(object, "was", was);
	json_add_text(object, "now", now);
	if (interrupt_is_drivers_choice(irq, cpus))
		json_object_object_add(object, "driver", json_object_new_boolean(true));
	json_object_array_add(found, object);
}

/* Reads the CPUs of an interrupt into 'cpus', and as the kernel formats them into 'text'. */
static bool read_affinity(const char *irq, hwloc_bitmap_t cpus, char *text, size_t size)
{
	char path[PATH_MAX];

	affinity_path(irq, path, sizeof(path));
	return kernel_read(text, size, "%s", path) > 0 && parse_affinity(irq, text, cpus) == 0;
}

static void look_outside(const char *irq, hwloc_const_bitmap_t wanted, struct json_object *found)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	char was[8192];

	if (cpus && read_affinity(irq, cpus, was, sizeof(was)) &&
	    !hwloc_bitmap_isincluded(cpus, wanted))
		add(irq, cpus, was, wanted, found);
	hwloc_bitmap_free(cpus);
}

void interrupt_near(const char *irq, hwloc_const_bitmap_t cpus, hwloc_bitmap_t near)
{
	char path[PATH_MAX], node[16];

	hwloc_bitmap_copy(near, cpus);
	if (kernel_read(node, sizeof(node), "/proc/irq/%s/node", irq) <= 0 ||
	    !isdigit((unsigned char)*node))
		return;
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", atoi(node));
	if (kernel_read_list(near, path) == 0)
		hwloc_bitmap_and(near, near, cpus);
	if (hwloc_bitmap_iszero(near))
		hwloc_bitmap_copy(near, cpus);
}

/* An interrupt without a handler has no device. */
static void look_on(const char *irq, hwloc_const_bitmap_t from, hwloc_const_bitmap_t to,
		    struct json_object *found)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc(), near = hwloc_bitmap_alloc();
	char was[8192], name[256];

	find_name(irq, name, sizeof(name));
	if (*name && cpus && near && read_affinity(irq, cpus, was, sizeof(was)) &&
	    hwloc_bitmap_intersects(cpus, from)) {
		interrupt_near(irq, to, near);
		add(irq, cpus, was, near, found);
	}
	hwloc_bitmap_free(cpus);
	hwloc_bitmap_free(near);
}

static int only_numbers(const struct dirent *entry)
{
	return isdigit((unsigned char)*entry->d_name);
}

/* Lists the numbers of all interrupts, ascending; free() each entry and the array. */
static int list_interrupts(struct dirent ***entries)
{
	char path[PATH_MAX];

	*entries = NULL;
	snprintf(path, sizeof(path), "%s/proc/irq", files_root);
	return scandir(path, entries, only_numbers, versionsort);
}

void interrupts_find_outside(hwloc_const_bitmap_t cpus, struct json_object *found)
{
	struct dirent **entries;
	int n;

	look_outside(DEFAULT, cpus, found);
	n = list_interrupts(&entries);
	for (int i = 0; i < n; i++) {
		look_outside(entries[i]->d_name, cpus, found);
		free(entries[i]);
	}
	free(entries);
}

void interrupts_find_on(hwloc_const_bitmap_t from, hwloc_const_bitmap_t to,
			struct json_object *found)
{
	struct dirent **entries;
	int n = list_interrupts(&entries);

	for (int i = 0; i < n; i++) {
		look_on(entries[i]->d_name, from, to, found);
		free(entries[i]);
	}
	free(entries);
}

int interrupt_cpus(const char *irq, hwloc_bitmap_t cpus)
{
	char text[8192];

	return read_affinity(irq, cpus, text, sizeof(text)) ? 0 : -1;
}

bool interrupt_is_used(const char *irq)
{
	char name[256];

	find_name(irq, name, sizeof(name));
	return *name;
}

/*
 * Writes an interrupt's CPUs: 0 or a negative errno. A managed interrupt has -EIO, as Linux 6.1
 * says; Linux 6.12 says EPERM, and the mode of the file gives no right to write.
 */
static int write_affinity(const char *irq, const char *text)
{
	char path[PATH_MAX];
	int error;

	affinity_path(irq, path, sizeof(path));
	error = kernel_write(text, "%s", path);
	return error == -EPERM || (error == -EACCES && geteuid() == 0) ? -EIO : error;
}

int interrupt_set(struct json_object *interrupt)
{
	return write_affinity(journal_text(interrupt, "irq"), journal_text(interrupt, "now"));
}

bool interrupt_is_drivers_choice(const char *irq, hwloc_const_bitmap_t now)
{
	hwloc_bitmap_t hint = hwloc_bitmap_alloc();
	char text[8192];
	bool same = hint &&
		    kernel_read(text, sizeof(text), "/proc/irq/%s/affinity_hint", irq) > 0 &&
		    parse_mask(text, hint) == 0 && !hwloc_bitmap_iszero(hint) &&
		    hwloc_bitmap_isequal(now, hint);

	hwloc_bitmap_free(hint);
	return same;
}

/*
 * True when the interrupt's CPUs are as interrupt_set() left them, and its device is the same. A driver
 * that had chosen them before, and has chosen again, knows CPUs that were off-line then.
 */
static bool is_ours(struct json_object *interrupt)
{
	const char *irq = journal_text(interrupt, "irq");
	hwloc_bitmap_t now = hwloc_bitmap_alloc(), ours = hwloc_bitmap_alloc();
	char text[8192], name[256];
	bool same;

	find_name(irq, name, sizeof(name));
	same = now && ours && strcmp(name, journal_text(interrupt, "name")) == 0 &&
	       read_affinity(irq, now, text, sizeof(text)) &&
	       parse_affinity(irq, journal_text(interrupt, "now"), ours) == 0 &&
	       (hwloc_bitmap_isequal(now, ours) ||
		(!json_object_get_boolean(json_object_object_get(interrupt, "driver")) &&
		 interrupt_is_drivers_choice(irq, now)));
	hwloc_bitmap_free(now);
	hwloc_bitmap_free(ours);
	return same;
}

int interrupt_restore(struct json_object *interrupt)
{
	if (!is_ours(interrupt))
		return 0;
	return write_affinity(journal_text(interrupt, "irq"), journal_text(interrupt, "was"));
}

/* The kernel refuses even a write of the CPUs that a managed interrupt has. */
static bool is_managed(const char *irq, hwloc_const_bitmap_t cpus)
{
	hwloc_bitmap_t has = hwloc_bitmap_alloc();
	char text[8192], name[256];
	bool managed;

	find_name(irq, name, sizeof(name));
	managed = *name && has && read_affinity(irq, has, text, sizeof(text)) &&
		  hwloc_bitmap_intersects(has, cpus) && write_affinity(irq, text) == -EIO;
	hwloc_bitmap_free(has);
	return managed;
}

void interrupts_managed(hwloc_const_bitmap_t cpus, char *names, size_t size)
{
	struct dirent **entries;
	int n = list_interrupts(&entries);
	size_t at = 0;

	*names = '\0';
	for (int i = 0; i < n; i++) {
		char name[256];

		if (is_managed(entries[i]->d_name, cpus) && at < size) {
			find_name(entries[i]->d_name, name, sizeof(name));
			at += snprintf(names + at, size - at, "%s%s (%s)", at ? ", " : "",
				       entries[i]->d_name, name);
		}
		free(entries[i]);
	}
	free(entries);
}
