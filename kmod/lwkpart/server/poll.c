// SPDX-License-Identifier: GPL-2.0-or-later
#include "server/poll.h"

#include <linux/magic.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <net/sock.h>

#include "server/transfer.h"

/* Sockets of other families may take a lock that is held while data goes to the LWK's memory. */
static bool is_quick_socket(struct inode *inode)
{
	const struct sock *sock = S_ISSOCK(inode->i_mode) ? SOCKET_I(inode)->sk : NULL;

	return sock && (sock->sk_family == AF_UNIX || sock->sk_family == AF_INET ||
			sock->sk_family == AF_INET6);
}

/*
 * A descriptor of O_PATH is none to poll(2). Other files may ask a program, or a device, whether
 * they are ready. A set of epoll(7) has a mutex that epoll_wait(2) holds while it writes its events
 * to the LWK's memory: a page of that may wait for the instance's rwsem, which the server has.
 */
static bool answers_at_once(const struct file *file)
{
	struct inode *inode = file_inode(file);

	return !(file->f_mode & FMODE_PATH) &&
	       (!file->f_op->poll || is_quick_socket(inode) ||
		inode->i_sb->s_magic == PIPEFS_MAGIC || is_eventfd(file));
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
