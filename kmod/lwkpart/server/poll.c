// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/poll.h"

#include <linux/magic.h>
#include <linux/string.h>

static bool is_anonymous(const struct file *file)
{
	return file_inode(file)->i_sb->s_magic == ANON_INODE_FS_MAGIC;
}

/* The kernel made the name, which no program can change. */
static bool is_epoll(const struct file *file)
{
	return is_anonymous(file) && strcmp(file->f_path.dentry->d_name.name, "[eventpoll]") == 0;
}

/* Other files may ask a program, or a device, whether they are ready. */
static bool answers_at_once(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return !file->f_op->poll || S_ISSOCK(inode->i_mode) ||
	       inode->i_sb->s_magic == PIPEFS_MAGIC ||
	       (is_anonymous(file) && file->f_mode & FMODE_NOWAIT);
}

bool poll_look(struct transfer *transfer, struct pollfd *element)
{
	__poll_t wanted = demangle_poll((u16)element->events) | EPOLLERR | EPOLLHUP;
	bool quick;

	element->revents = 0;
	if (element->fd < 0)
		return true;
	if (!transfer_begin(transfer, element->fd))
		return false;
	quick = answers_at_once(transfer->file);
	if (quick)
		element->revents = mangle_poll(vfs_poll(transfer->file, NULL) & wanted);
	transfer_end(transfer);
	return quick;
}

bool poll_nothing_ready(struct transfer *transfer, unsigned int fd)
{
	bool nothing;

	if (!transfer_begin(transfer, fd))
		return false;
	nothing = is_epoll(transfer->file) && !vfs_poll(transfer->file, NULL);
	transfer_end(transfer);
	return nothing;
}
