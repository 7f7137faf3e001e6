/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes a file for a task that waits in the kernel meanwhile: as its own call would, but
 * with memory of the caller's, and only what neither waits nor fails.
 */
#ifndef LWKPART_TRANSFER_H
#define LWKPART_TRANSFER_H

#include <linux/errno.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/uio.h>

#include "compat/compat.h"

/* Nothing was done, and the task must make the call itself. No call ends with this number. */
#define NOT_DONE (-ERESTARTSYS)

struct transfer {
	struct task_struct *task;   /* the task, which does not leave the kernel meanwhile */
	struct files_struct *files; /* its descriptors */
	struct file *file;	    /* transfer_begin() sets it */
	bool borrowed;		    /* without a reference: nobody else can close the file */
	bool write;
	bool has_position; /* pread(2), pwrite(2) */
	loff_t position;
	struct kvec piece; /* the caller's memory, if it is one piece */
};

/*
 * True for a file of eventfd(2). Other anonymous files must not take the server for their reader.
 */
bool is_eventfd(const struct file *file);
/* Finds the file of a descriptor that other tasks may close meanwhile. */
bool transfer_begin_shared(struct transfer *transfer, unsigned int fd);

/* Finds the file of a descriptor, and holds it. False: the task must make the call itself. */
static inline bool transfer_begin(struct transfer *transfer, unsigned int fd)
{
	if (atomic_read(&transfer->files->count) != 1)
		return transfer_begin_shared(transfer, fd);
	/*
	 * As in fdget(): the task, which waits, is the only one to close a file of its own table.
	 */
	transfer->borrowed = true;
	transfer->file = files_lookup_fd_raw(transfer->files, fd);
	return transfer->file;
}

static inline void transfer_end(struct transfer *transfer)
{
	if (!transfer->borrowed)
		fput(transfer->file);
}

/* True when transfer_run() may try it. */
bool transfer_suits(const struct transfer *transfer);
/* Reads or writes: the call's result, or NOT_DONE. The transfer suits. */
ssize_t transfer_run(struct transfer *transfer, const struct kvec *memory, unsigned int pieces,
		     size_t size);
/* write(2) of this number to a file of eventfd(2): its result, or NOT_DONE. */
ssize_t transfer_signal(struct transfer *transfer, u64 number);
/* lseek(2): its result, or NOT_DONE. */
loff_t transfer_seek(struct transfer *transfer, loff_t offset, unsigned int whence);

#endif
