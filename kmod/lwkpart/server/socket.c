// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A socket tells an error once. So the task makes the call when there is one, and an error that comes
 * meanwhile is the call's result.
 */
#include "server/socket.h"

#include <linux/in.h>
#include <linux/magic.h>
#include <linux/net.h>
#include <linux/socket.h>
#include <net/sock.h>

/* Linux would write the sender's process id, that of the server's thread, into messages of AF_UNIX. */
static bool is_sender_known(const struct sock *sk)
{
	return sk->sk_family == AF_INET || sk->sk_family == AF_INET6;
}

static bool is_known(const struct socket *socket)
{
	const struct sock *sk = socket->sk;

	if (socket->type != SOCK_STREAM && socket->type != SOCK_DGRAM)
		return false;
	if (sk->sk_family == AF_UNIX)
		return true;
	return is_sender_known(sk) &&
	       (sk->sk_protocol == IPPROTO_TCP || sk->sk_protocol == IPPROTO_UDP);
}

bool socket_suits(const struct transfer *transfer, unsigned int flags)
{
	struct inode *inode = file_inode(transfer->file);
	const struct socket *socket;
	const struct sock *sk;
	bool nonblock = flags & MSG_DONTWAIT || transfer->file->f_flags & O_NONBLOCK;

	if (!S_ISSOCK(inode->i_mode) || inode->i_sb->s_magic != SOCKFS_MAGIC)
		return false;
	socket = SOCKET_I(inode);
	sk = socket->sk;
	if (!sk || !is_known(socket) || READ_ONCE(sk->sk_err) || READ_ONCE(sk->sk_shutdown) ||
	    flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL))
		return false;
	/* A call that waits sends everything, and receives as much as the program has asked for. */
	if (transfer->write)
		return is_sender_known(sk) && (nonblock || socket->type == SOCK_DGRAM);
	return nonblock || READ_ONCE(sk->sk_rcvlowat) <= 1;
}

bool socket_is_certain(ssize_t result, bool nonblock)
{
	switch (result) {
	case -EAGAIN:
		return nonblock;
	case -EPIPE: /* the task gets a signal, too */
	case -EINTR:
	case -EFAULT:
	case -ENOMEM:
	case -ENOBUFS:
	case -ERESTARTSYS:
	case -ERESTARTNOINTR:
		return false;
	default:
		return true;
	}
}

ssize_t socket_run(const struct transfer *transfer, const struct kvec *memory, unsigned int pieces,
		   size_t size, unsigned int flags)
{
	struct socket *socket = SOCKET_I(file_inode(transfer->file));
	bool nonblock = flags & MSG_DONTWAIT || transfer->file->f_flags & O_NONBLOCK;
	struct msghdr message = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	const struct cred *cred = override_creds(transfer->cred);
	ssize_t result;

	iov_iter_kvec(&message.msg_iter, transfer->write ? WRITE : READ, memory, pieces, size);
	result = transfer->write ? sock_sendmsg(socket, &message)
				 : sock_recvmsg(socket, &message, MSG_DONTWAIT);
	revert_creds(cred);
	return socket_is_certain(result, nonblock) ? result : NOT_DONE;
}
