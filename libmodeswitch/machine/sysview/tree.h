/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the trees of small files below the state directory that sysview is made of. Everyone can
 * read them. All functions return 0, or -1 with a message in the tree's error.
 */
#ifndef SYSVIEW_TREE_H
#define SYSVIEW_TREE_H

#include <hwloc.h>

#include "modeswitch/error.h"

/* The machine's tree, below the state directory. */
#define MACHINE_TREE "sysfs"

/* A tree that is being made. */
struct tree {
	int dir;       /* its directory, open; the caller closes it */
	char name[32]; /* its path below the state directory, for messages */
	struct ms_error *err;
};

/*
 * Makes the directory of a new tree in 'parent', an open directory whose path below the state
 * directory is 'parent_name' ("" or with a slash at its end).
 */
int open_tree(struct tree *tree, int parent, const char *parent_name, const char *name,
	      struct ms_error *err);
/* Removes a tree, 'name' below the state directory; succeeds also when there is none. */
int remove_tree(const char *name, struct ms_error *err);

/* Make one entry, whose path in the tree the format gives. */
int make_dir(const struct tree *tree, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int make_link(const struct tree *tree, const char *to, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int make_file(const struct tree *tree, const char *text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes a set of CPUs or nodes as a mask and as a list, each unless its name is NULL. */
int make_sets(const struct tree *tree, hwloc_const_bitmap_t set, const char *dir,
	      const char *mask_name, const char *list_name);
/*
 * Makes "cpuinfo" from the file 'from', in the form of /proc/cpuinfo: the sections of these CPUs,
 * or all of it (NULL). Makes none when there is no such file.
 */
int make_cpuinfo(const struct tree *tree, const char *from, hwloc_const_bitmap_t cpus);

#endif
