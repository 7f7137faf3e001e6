// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fsnotify.h>

static bool __used try(struct super_block *sb)
{
	return fsnotify_sb_has_priority_watchers(sb, FSNOTIFY_PRIO_CONTENT);
}
