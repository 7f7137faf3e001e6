// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/fs.h>

static ssize_t __used try(struct file *file, struct kiocb *kiocb, struct iov_iter *iter)
{
	return vfs_iocb_iter_read(file, kiocb, iter);
}
