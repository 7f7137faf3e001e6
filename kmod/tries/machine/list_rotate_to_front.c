// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/list.h>

static void __used try(struct list_head *list)
{
	list_rotate_to_front(list, list);
}
