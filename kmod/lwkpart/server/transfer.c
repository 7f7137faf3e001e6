// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only results that are certain come from here. Whatever fails, waits or ends early the task does again
 * from the beginning, so that errors, signals and limits are those of its own call. So a transfer that
 * cannot be repeated must be done in full or not at all.
 */
#include "server/transfer.h"

#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/magic.h>
#include <linux/major.h>
#include <linux/memcontrol.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>

#include "compat/compat.h"

/* The minor numbers of devices whose reads can be repeated, and whose writes never end early. */
#define NULL_MINOR 3
#define ZERO_MINOR 5

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

/* A pipe(2) with at most a page: a write of so much is done in full or not at all. */
static bool is_pipe(const struct inode *inode)
{
	return S_ISFIFO(inode->i_mode) && inode->i_sb->s_magic == PIPEFS_MAGIC;
}

/* A file in memory of which no page must be read from a swap device. */
static bool is_in_memory(struct inode *inode)
{
	return IS_ENABLED(CONFIG_SHMEM) && S_ISREG(inode->i_mode) &&
	       inode->i_sb->s_magic == TMPFS_MAGIC && !READ_ONCE(SHMEM_I(inode)->swapped);
}

/* Does the file system promise that a read or write with IOCB_NOWAIT does not wait? */
static bool suits(const struct transfer *transfer, size_t size)
{
	const struct file *file = transfer->file;
	struct inode *inode = file_inode(file);

	if (file->f_flags & (O_DIRECT | O_SYNC | O_DSYNC) || file->f_mode & FMODE_PATH)
		return false;
	if (!(file->f_mode & (transfer->write ? FMODE_WRITE : FMODE_READ)) ||
	    !(transfer->write ? file->f_op->write_iter : file->f_op->read_iter))
		return false;
	if (transfer->has_position &&
	    !(file->f_mode & (transfer->write ? FMODE_PWRITE : FMODE_PREAD)))
		return false;
	if (is_memory_device(inode) || (!transfer->write && is_in_memory(inode)))
		return true;
	if (!(file->f_mode & FMODE_NOWAIT))
		return false;
	if (transfer->write)
		return is_pipe(inode) && size <= PAGE_SIZE;
	return is_pipe(inode) || S_ISREG(inode->i_mode);
}

bool transfer_begin(struct transfer *transfer, unsigned int fd, size_t size)
{
	transfer->file = find_file(transfer->files, fd);
	if (!transfer->file)
		return false;
	if (suits(transfer, size))
		return true;
	transfer_end(transfer);
	return false;
}

void transfer_end(struct transfer *transfer)
{
	fput(transfer->file);
}

/*
 * From now on Linux charges memory that it takes for this thread to the group; returns the former one.
 * Linux's own function for it also serves interrupts, by a variable that 5.10 does not export.
 */
static struct mem_cgroup *charge_to(struct mem_cgroup *group)
{
	struct mem_cgroup *former = NULL;

#ifdef CONFIG_MEMCG
	former = current->active_memcg;
	current->active_memcg = group;
#endif
	return former;
}

/* Memory that Linux takes for the write is charged to the task's memory cgroup. */
static ssize_t write_charged(struct transfer *transfer, struct kiocb *kiocb, struct iov_iter *iter)
{
	struct mem_cgroup *group = get_mem_cgroup_from_mm(transfer->task->mm);
	struct mem_cgroup *former = charge_to(group);
	ssize_t result = vfs_iocb_iter_write(transfer->file, kiocb, iter);

	charge_to(former);
	mem_cgroup_put(group);
	return result;
}

/* Reads at kiocb->ki_pos only what is in memory, writes only what has room. */
static ssize_t run(struct transfer *transfer, struct kiocb *kiocb, const struct kvec *memory,
		   unsigned int pieces, size_t size)
{
	struct iov_iter iter;

	/* IOCB_NOIO: a page that were read ahead would be charged to nobody. */
	kiocb->ki_flags |= IOCB_NOWAIT;
	if (S_ISREG(file_inode(transfer->file)->i_mode))
		kiocb->ki_flags |= IOCB_NOIO;
	iov_iter_kvec(&iter, transfer->write ? WRITE : READ, memory, pieces, size);
	return transfer->write ? write_charged(transfer, kiocb, &iter)
			       : vfs_iocb_iter_read(transfer->file, kiocb, &iter);
}

/* Did the transfer end where the task's own one would end? */
static bool is_complete(const struct transfer *transfer, const struct kiocb *kiocb, ssize_t result,
			size_t size)
{
	const struct inode *inode = file_inode(transfer->file);

	if (result < 0)
		return false;
	return result == size || is_pipe(inode) ||
	       (S_ISREG(inode->i_mode) ? kiocb->ki_pos >= i_size_read(inode)
				       : iminor(inode) == NULL_MINOR);
}

static void account(struct transfer *transfer, ssize_t result)
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

ssize_t transfer_run(struct transfer *transfer, const struct kvec *memory, unsigned int pieces,
		     size_t size)
{
	struct file *file = transfer->file;
	bool locked = !transfer->has_position && file->f_mode & FMODE_ATOMIC_POS;
	const struct cred *cred;
	struct kiocb kiocb;
	ssize_t result;

	if (locked && !mutex_trylock(&file->f_pos_lock))
		return -EAGAIN;
	init_sync_kiocb(&kiocb, file);
	if (transfer->has_position)
		kiocb.ki_pos = transfer->position;
	else if (!(file->f_mode & FMODE_STREAM))
		kiocb.ki_pos = file->f_pos;
	cred = override_creds(transfer->cred);
	result = run(transfer, &kiocb, memory, pieces, size);
	revert_creds(cred);
	if (!is_complete(transfer, &kiocb, result, size))
		result = -EAGAIN;
	else if (!transfer->has_position && !(file->f_mode & FMODE_STREAM))
		file->f_pos = kiocb.ki_pos;
	if (locked)
		mutex_unlock(&file->f_pos_lock);
	if (result >= 0)
		account(transfer, result);
	return result;
}
