// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only results that are certain come from here. The task itself repeats a call that fails, waits or
 * ends early here from the beginning, so that errors, signals and limits are those of its own call.
 * So a transfer that cannot be repeated must be done in full or not at all.
 */
#include "server/transfer.h"

#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/magic.h>
#include <linux/major.h>
#include <linux/mount.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/shmem_fs.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "compat/compat.h"

/* The minor numbers of devices whose reads can be repeated, and whose writes never end early. */
#define NULL_MINOR 3
#define ZERO_MINOR 5
/* With relatime, the age at which a time of access is set again (fs/inode.c). */
#define RELATIME_SECONDS (24 * 60 * 60)

/* With a reference, or NULL. */
static struct file *find_file(struct files_struct *files, unsigned int fd)
{
	struct file *file = NULL;
	struct fdtable *table;

	rcu_read_lock();
	table = files_fdtable(files);
	if (fd < table->max_fds)
		file = compat_get_file(&table->fd[array_index_nospec(fd, table->max_fds)]);
	rcu_read_unlock();
	return file;
}

static bool is_memory_device(const struct inode *inode)
{
	return S_ISCHR(inode->i_mode) && imajor(inode) == MEM_MAJOR &&
	       (iminor(inode) == NULL_MINOR || iminor(inode) == ZERO_MINOR);
}

/*
 * A file in memory of which no page had to be read from a swap device just now. One that goes there
 * meanwhile is awaited, as is another task's work on a page: shortly, and for nobody but Linux.
 */
static bool is_in_memory(struct inode *inode)
{
	return IS_ENABLED(CONFIG_SHMEM) && S_ISREG(inode->i_mode) &&
	       inode->i_sb->s_magic == TMPFS_MAGIC && !READ_ONCE(SHMEM_I(inode)->swapped);
}

/* The kernel made the name, which no program can change. */
bool is_eventfd(const struct file *file)
{
	return file_inode(file)->i_sb->s_magic == ANON_INODE_FS_MAGIC &&
	       strcmp(file->f_path.dentry->d_name.name, "[eventfd]") == 0;
}

/*
 * True when the read may set the time of access. On a disk, setting it waits for the file system's
 * journal, whatever the flags of the read; relatime sets it once after each write, and once a day.
 */
static bool sets_access_time(const struct file *file)
{
	const struct vfsmount *mount = file->f_path.mnt;
	struct inode *inode = file_inode(file);
	struct timespec64 atime = compat_atime(inode), mtime = compat_mtime(inode),
			  ctime = compat_ctime(inode);

	if (file->f_flags & O_NOATIME || inode->i_flags & S_NOATIME || IS_NOATIME(inode) ||
	    mount->mnt_flags & MNT_NOATIME)
		return false;
	return !(mount->mnt_flags & MNT_RELATIME) || timespec64_compare(&mtime, &atime) >= 0 ||
	       timespec64_compare(&ctime, &atime) >= 0 ||
	       ktime_get_real_seconds() - atime.tv_sec >= RELATIME_SECONDS;
}

/*
 * True when the file system promises that a read or write with IOCB_NOWAIT does not wait. Pipes and
 * sockets do not suit: they copy with a lock held for which the server would wait, whatever the
 * flags. A thread that has the lock may wait for the caller, because it copies from or to the LWK's
 * memory, too, or for a page that a user withholds (userfaultfd(2), FUSE).
 *
 * The same holds for writes to tmpfs. ext4 refuses writes that do not wait, and those of XFS and
 * btrfs would read the LWK's memory by a plain copy: damaged memory would end Linux, not the
 * program.
 *
 * Not inlined: devices, which need no such look, do not pay for its registers.
 */
static noinline bool file_suits(const struct file *file, struct inode *inode)
{
	if (is_in_memory(inode))
		return true;
	return file->f_mode & FMODE_NOWAIT &&
	       (is_eventfd(file) || (S_ISREG(inode->i_mode) && !sets_access_time(file)));
}

bool transfer_suits(const struct transfer *transfer)
{
	const struct file *file = transfer->file;
	struct inode *inode = file_inode(file);

	if (file->f_flags & (O_DIRECT | O_SYNC | O_DSYNC))
		return false;
	if (transfer->has_position &&
	    !(file->f_mode & (transfer->write ? FMODE_PWRITE : FMODE_PREAD)))
		return false;
	if (compat_asks_listener(file))
		return false;
	return is_memory_device(inode) || (!transfer->write && file_suits(file, inode));
}

bool transfer_begin_shared(struct transfer *transfer, unsigned int fd)
{
	transfer->borrowed = false;
	transfer->file = find_file(transfer->files, fd);
	return transfer->file;
}

/* Reads at kiocb->ki_pos only what is in memory. */
static ssize_t run(struct transfer *transfer, struct kiocb *kiocb, const struct kvec *memory,
		   unsigned int pieces, size_t size)
{
	struct iov_iter iter COMPAT_NOT_CLEARED;

	/* A sharer of the file may have set O_DIRECT since transfer_suits() looked: that waits. */
	if (kiocb->ki_flags & IOCB_DIRECT)
		return -EAGAIN;
	/* IOCB_NOIO: a page that was read ahead would be charged to nobody. */
	kiocb->ki_flags |= IOCB_NOWAIT | IOCB_NOIO;
	iov_iter_kvec(&iter, transfer->write ? WRITE : READ, memory, pieces, size);
	return transfer->write ? vfs_iocb_iter_write(transfer->file, kiocb, &iter)
			       : vfs_iocb_iter_read(transfer->file, kiocb, &iter);
}

/* True when the task's own call would have the same result. */
static bool is_certain(const struct transfer *transfer, const struct kiocb *kiocb, ssize_t result,
		       size_t size)
{
	const struct inode *inode = file_inode(transfer->file);

	if (result == size)
		return true;
	if (result < 0)
		return false;
	return is_eventfd(transfer->file) ||
	       (S_ISREG(inode->i_mode) ? kiocb->ki_pos >= i_size_read(inode)
				       : iminor(inode) == NULL_MINOR);
}

static void account(struct transfer *transfer, size_t result)
{
#ifdef CONFIG_TASK_XACCT
	struct task_io_accounting *counts = &transfer->task->ioac;

	if (transfer->write) {
		counts->wchar += result;
		counts->syscw++;
	} else {
		counts->rchar += result;
		counts->syscr++;
	}
#endif
}

static bool uses_own_position(const struct transfer *transfer)
{
	return !transfer->has_position && !(transfer->file->f_mode & FMODE_STREAM);
}

/* False: another thread uses the file's position just now. */
static bool lock_position(struct file *file)
{
	return !(file->f_mode & FMODE_ATOMIC_POS) || mutex_trylock(&file->f_pos_lock);
}

static void unlock_position(struct file *file)
{
	if (file->f_mode & FMODE_ATOMIC_POS)
		mutex_unlock(&file->f_pos_lock);
}

ssize_t transfer_run(struct transfer *transfer, const struct kvec *memory, unsigned int pieces,
		     size_t size)
{
	struct file *file = transfer->file;
	struct kiocb kiocb COMPAT_NOT_CLEARED;
	bool own = uses_own_position(transfer);
	ssize_t result;

	if (own && !lock_position(file))
		return NOT_DONE;
	kiocb = (struct kiocb){ .ki_filp = file,
				.ki_flags = compat_iocb_flags(file),
				.ki_pos = own ? file->f_pos : transfer->position };
	result = run(transfer, &kiocb, memory, pieces, size);
	if (is_certain(transfer, &kiocb, result, size)) {
		if (own)
			file->f_pos = kiocb.ki_pos;
		account(transfer, result);
	} else {
		result = NOT_DONE;
	}
	if (own)
		unlock_position(file);
	return result;
}

ssize_t transfer_signal(struct transfer *transfer, u64 number)
{
	struct file *file = transfer->file;
	struct eventfd_ctx *eventfd;

	/* Linux exports no more than to add 1, and that without a look whether there is room. */
	if (number != 1 || !(file->f_mode & FMODE_WRITE) || !(vfs_poll(file, NULL) & EPOLLOUT))
		return NOT_DONE;
	eventfd = eventfd_ctx_fileget(file);
	if (IS_ERR(eventfd))
		return NOT_DONE;
	compat_eventfd_signal(eventfd);
	eventfd_ctx_put(eventfd);
	account(transfer, sizeof(number));
	return sizeof(number);
}

/*
 * True when a seek looks at the file's size and nothing else. Other file systems may ask somebody where the end
 * is: OCFS2 waits for a lock of its cluster.
 */
static bool seeks_at_once(struct inode *inode)
{
	switch (inode->i_sb->s_magic) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
		return true;
	default:
		return is_in_memory(inode);
	}
}

loff_t transfer_seek(struct transfer *transfer, loff_t offset, unsigned int whence)
{
	struct file *file = transfer->file;
	struct inode *inode = file_inode(file);
	loff_t result;

	if (whence > SEEK_END || !(file->f_mode & FMODE_LSEEK) || !S_ISREG(inode->i_mode) ||
	    !seeks_at_once(inode) || !lock_position(file))
		return NOT_DONE;
	result = vfs_llseek(file, offset, whence);
	unlock_position(file);
	return result < 0 ? NOT_DONE : result;
}
