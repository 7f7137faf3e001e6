/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/instance/may_wait.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/major.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "lwkexec/instance/copy.h"

/* /dev/kmsg is the one of the memory devices that has a reader wait. */
#define KMSG_MINOR 11
/* TCSETSW2 and TCSETSF2, for which <asm/termbits.h> would redefine what <sys/ioctl.h> has. */
#define NR_TCSETSW2 0x2c
#define NR_TCSETSF2 0x2d
/* FUTEX_LOCK_PI2, newer than some headers. */
#define LOCK_PI2 13
/* Calls with more operations on semaphores are taken for ones that wait. */
#define MOST_OPERATIONS 32

static bool is_memory_device(const struct stat *file)
{
	return S_ISCHR(file->st_mode) && major(file->st_rdev) == MEM_MAJOR &&
	       minor(file->st_rdev) != KMSG_MINOR;
}

/* True when a transfer may wait for another process or for a device. */
static bool fd_may_wait(int fd)
{
	int mode = fcntl(fd, F_GETFL);
	struct stat file;

	return mode >= 0 && !(mode & O_NONBLOCK) && fstat(fd, &file) == 0 &&
	       !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode) && !S_ISBLK(file.st_mode) &&
	       !is_memory_device(&file);
}

/* Linux looks at the mode of a message queue's descriptor, which is otherwise that of a file. */
static bool queue_may_wait(int fd)
{
	int mode = fcntl(fd, F_GETFL);

	return mode >= 0 && !(mode & O_NONBLOCK);
}

/* A FIFO waits for its other end, and a terminal for its line. */
static bool open_may_wait(int directory, uint64_t path, uint64_t flags)
{
	struct stat file;

	return !(flags & (O_NONBLOCK | O_PATH)) &&
	       fstatat(directory, (const char *)path, &file, 0) == 0 &&
	       (S_ISFIFO(file.st_mode) || (S_ISCHR(file.st_mode) && !is_memory_device(&file)));
}

static bool open_how_may_wait(const uint64_t *args)
{
	uint64_t flags;

	/* struct open_how begins with the flags. */
	return copy_in(&flags, args[2], sizeof(flags)) == sizeof(flags) &&
	       open_may_wait(args[0], args[1], flags);
}

/* True for the calls of a terminal that first let the output reach the line. */
static bool terminal_may_wait(unsigned int command)
{
	switch (command) {
	case TCSETSW:
	case TCSETSF:
	case TCSETAW:
	case TCSETAF:
	case TCSBRK:
	case TCSBRKP:
	case TIOCMIWAIT:
		return true;
	default:
		return _IOC_DIR(command) == _IOC_WRITE &&
		       (_IOC_NR(command) == NR_TCSETSW2 || _IOC_NR(command) == NR_TCSETSF2);
	}
}

/* A command of a device that is no terminal may wait; those that every file has do not. */
static bool ioctl_may_wait(int fd, unsigned int command)
{
	struct stat file;

	if (_IOC_TYPE(command) == 'T')
		return terminal_may_wait(command);
	return fstat(fd, &file) == 0 && (S_ISCHR(file.st_mode) || !(file.st_mode & S_IFMT));
}

/* Operations that add to a semaphore never wait. */
static bool semaphores_may_wait(uint64_t address, uint64_t n)
{
	struct sembuf operations[MOST_OPERATIONS];
	size_t size = n * sizeof(operations[0]);

	if (n > MOST_OPERATIONS)
		return true;
	if (copy_in(operations, address, size) != size)
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (operations[i].sem_op <= 0 && !(operations[i].sem_flg & IPC_NOWAIT))
			return true;
	return false;
}

static bool futex_may_wait(uint64_t operation)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI:
	case LOCK_PI2:
		return true;
	default:
		return false;
	}
}

/* False for a struct timespec or timeval, at an address that may be 0, of no time at all. */
static bool time_may_pass(uint64_t address)
{
	uint64_t time[2];

	return !address || copy_in(time, address, sizeof(time)) != sizeof(time) || time[0] ||
	       time[1];
}

/* True for fcntl(2) that waits for a lock. */
static bool lock_may_wait(unsigned int command)
{
	return command == F_SETLKW || command == F_OFD_SETLKW;
}

/* The waits of calls; 0, 1 and 2 are arguments, and 'at' is that of the table below. */
enum waits {
	NEVER,
	ALWAYS,
	DESCRIPTOR,   /* for the descriptor at 0 */
	DESCRIPTORS,  /* for those at 0 and 1 */
	QUEUE,	      /* for the message queue at 0 */
	OPENED,	      /* for the file of open(2) */
	CREATED,      /* of creat(2) */
	OPENED_AT,    /* of openat(2) */
	OPENED_HOW,   /* of openat2(2) */
	CONTROL,      /* for the device at 0, with the command at 1 */
	LOCK,	      /* for a lock, with the command at 1 */
	FUTEX,	      /* with the operation at 1 */
	SEMAPHORES,   /* with the operations at 1, as many as 2 says */
	MILLISECONDS, /* for as long as 'at' says */
	TIME,	      /* for the time at the address 'at' */
};

/* The calls that may wait, but not when argument number 'at' has one of 'flags'. */
static const struct {
	uint8_t waits, at;
	uint16_t flags;
} calls[] = {
	[SYS_read] = { .waits = DESCRIPTOR },
	[SYS_write] = { .waits = DESCRIPTOR },
	[SYS_open] = { .waits = OPENED },
	[SYS_poll] = { .waits = MILLISECONDS, .at = 2 },
	[SYS_ioctl] = { .waits = CONTROL },
	[SYS_pread64] = { .waits = DESCRIPTOR },
	[SYS_pwrite64] = { .waits = DESCRIPTOR },
	[SYS_readv] = { .waits = DESCRIPTOR },
	[SYS_writev] = { .waits = DESCRIPTOR },
	[SYS_select] = { .waits = TIME, .at = 4 },
	[SYS_nanosleep] = { .waits = ALWAYS },
	[SYS_sendfile] = { .waits = DESCRIPTORS },
	[SYS_connect] = { .waits = DESCRIPTOR },
	[SYS_accept] = { .waits = DESCRIPTOR },
	[SYS_sendto] = { .waits = DESCRIPTOR, .at = 3, .flags = MSG_DONTWAIT },
	[SYS_recvfrom] = { .waits = DESCRIPTOR, .at = 3, .flags = MSG_DONTWAIT },
	[SYS_sendmsg] = { .waits = DESCRIPTOR, .at = 2, .flags = MSG_DONTWAIT },
	[SYS_recvmsg] = { .waits = DESCRIPTOR, .at = 2, .flags = MSG_DONTWAIT },
	[SYS_wait4] = { .waits = ALWAYS, .at = 2, .flags = WNOHANG },
	[SYS_semop] = { .waits = SEMAPHORES },
	[SYS_msgsnd] = { .waits = ALWAYS, .at = 3, .flags = IPC_NOWAIT },
	[SYS_msgrcv] = { .waits = ALWAYS, .at = 4, .flags = IPC_NOWAIT },
	[SYS_fcntl] = { .waits = LOCK },
	[SYS_flock] = { .waits = ALWAYS, .at = 1, .flags = LOCK_NB | LOCK_UN },
	[SYS_creat] = { .waits = CREATED },
	[SYS_futex] = { .waits = FUTEX },
	[SYS_semtimedop] = { .waits = SEMAPHORES },
	[SYS_clock_nanosleep] = { .waits = ALWAYS },
	[SYS_epoll_wait] = { .waits = MILLISECONDS, .at = 3 },
	[SYS_mq_timedsend] = { .waits = QUEUE },
	[SYS_mq_timedreceive] = { .waits = QUEUE },
	[SYS_waitid] = { .waits = ALWAYS, .at = 3, .flags = WNOHANG },
	[SYS_openat] = { .waits = OPENED_AT },
	[SYS_pselect6] = { .waits = TIME, .at = 4 },
	[SYS_ppoll] = { .waits = TIME, .at = 2 },
	[SYS_splice] = { .waits = ALWAYS, .at = 5, .flags = SPLICE_F_NONBLOCK },
	[SYS_tee] = { .waits = ALWAYS, .at = 3, .flags = SPLICE_F_NONBLOCK },
	[SYS_epoll_pwait] = { .waits = MILLISECONDS, .at = 3 },
	[SYS_accept4] = { .waits = DESCRIPTOR },
	[SYS_preadv] = { .waits = DESCRIPTOR },
	[SYS_pwritev] = { .waits = DESCRIPTOR },
	[SYS_recvmmsg] = { .waits = DESCRIPTOR, .at = 3, .flags = MSG_DONTWAIT },
	[SYS_sendmmsg] = { .waits = DESCRIPTOR, .at = 3, .flags = MSG_DONTWAIT },
	[SYS_preadv2] = { .waits = DESCRIPTOR },
	[SYS_pwritev2] = { .waits = DESCRIPTOR },
	[__NR_openat2] = { .waits = OPENED_HOW },
	[__NR_epoll_pwait2] = { .waits = TIME, .at = 3 },
};

bool may_wait(const struct lwk_packet *request)
{
	const uint64_t *args = (const uint64_t *)request->args;
	unsigned int at;

	if (request->nr >= sizeof(calls) / sizeof(calls[0]))
		return false;
	at = calls[request->nr].at;
	if (args[at] & calls[request->nr].flags)
		return false;
	switch ((enum waits)calls[request->nr].waits) {
	case NEVER:
		return false;
	case ALWAYS:
		return true;
	case DESCRIPTOR:
		return fd_may_wait(args[0]);
	case DESCRIPTORS:
		return fd_may_wait(args[0]) || fd_may_wait(args[1]);
	case QUEUE:
		return queue_may_wait(args[0]);
	case OPENED:
		return open_may_wait(AT_FDCWD, args[0], args[1]);
	case CREATED:
		return open_may_wait(AT_FDCWD, args[0], 0);
	case OPENED_AT:
		return open_may_wait(args[0], args[1], args[2]);
	case OPENED_HOW:
		return open_how_may_wait(args);
	case CONTROL:
		return ioctl_may_wait(args[0], args[1]);
	case LOCK:
		return lock_may_wait(args[1]);
	case FUTEX:
		return futex_may_wait(args[1]);
	case SEMAPHORES:
		return semaphores_may_wait(args[1], args[2]);
	case MILLISECONDS:
		return (int)args[at] != 0;
	case TIME:
		return time_may_pass(args[at]);
	}
	return false;
}
