// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

static int __used try(const struct file *file)
{
	return file->f_iocb_flags;
}
