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
/* Newer than some headers. */
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

static bool socket_may_wait(int fd, uint64_t flags)
{
	return !(flags & MSG_DONTWAIT) && fd_may_wait(fd);
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

	/* The flags are what struct open_how begins with. */
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

/* Only for terminals and for calls that every file has is it known whether they wait. */
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

bool may_wait(const struct lwk_packet *request)
{
	const uint64_t *args = (const uint64_t *)request->args;

	switch (request->nr) {
	case SYS_read:
	case SYS_write:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_readv:
	case SYS_writev:
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_preadv2:
	case SYS_pwritev2:
	case SYS_connect:
	case SYS_accept:
	case SYS_accept4:
		return fd_may_wait(args[0]);
	case SYS_sendfile:
		return fd_may_wait(args[0]) || fd_may_wait(args[1]);
	case SYS_splice:
		return !(args[5] & SPLICE_F_NONBLOCK);
	case SYS_tee:
		return !(args[3] & SPLICE_F_NONBLOCK);
	case SYS_sendto:
	case SYS_recvfrom:
	case SYS_sendmmsg:
	case SYS_recvmmsg:
		return socket_may_wait(args[0], args[3]);
	case SYS_sendmsg:
	case SYS_recvmsg:
		return socket_may_wait(args[0], args[2]);
	case SYS_open:
		return open_may_wait(AT_FDCWD, args[0], args[1]);
	case SYS_creat:
		return open_may_wait(AT_FDCWD, args[0], 0);
	case SYS_openat:
		return open_may_wait(args[0], args[1], args[2]);
	case __NR_openat2:
		return open_how_may_wait(args);
	case SYS_ioctl:
		return ioctl_may_wait(args[0], args[1]);
	case SYS_fcntl:
		return (uint32_t)args[1] == F_SETLKW || (uint32_t)args[1] == F_OFD_SETLKW;
	case SYS_flock:
		return !(args[1] & (LOCK_NB | LOCK_UN));
	case SYS_wait4:
		return !(args[2] & WNOHANG);
	case SYS_waitid:
		return !(args[3] & WNOHANG);
	case SYS_poll:
		return (int)args[2] != 0;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int)args[3] != 0;
	case SYS_ppoll:
		return time_may_pass(args[2]);
	case __NR_epoll_pwait2:
		return time_may_pass(args[3]);
	case SYS_select:
	case SYS_pselect6:
		return time_may_pass(args[4]);
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
		return true;
	case SYS_futex:
		return futex_may_wait(args[1]);
	case SYS_semop:
	case SYS_semtimedop:
		return semaphores_may_wait(args[1], args[2]);
	case SYS_msgsnd:
		return !(args[3] & IPC_NOWAIT);
	case SYS_msgrcv:
		return !(args[4] & IPC_NOWAIT);
	case SYS_mq_timedsend:
	case SYS_mq_timedreceive:
		return queue_may_wait(args[0]);
	default:
		return false;
	}
}
