// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

static struct file *__used try(struct file __rcu **entry)
{
	return get_file_rcu(entry);
}
