/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * foreign-delegated: hands addresses that are not its own, and lengths that lead there, to each call
 * that the LWK delegates, one at a time and with valid values for all others. Prints for each try
 * the call, the argument (from 0; "of" a structure: what that has), the place and the result, as a
 * negative errno, as 0 for success or as the bytes that were transferred: on the LWK these lines
 * are the same as on Linux. Ends with 1 if it found bytes that it does not have itself.
 *
 * foreign-delegated --list prints the name and the argument of each address that it tries, and the
 * names of those calls that are known to have none.
 */
#define _GNU_SOURCE
/* Most calls name no memory that names memory. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <mqueue.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "abi/shared/layout.h"
#include "abi/shared/linux_calls.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PAGE 4096UL
#define ROOM 512
#define BYTE 'x'

/* ---- what the calls are about ---- */

/* The last page has no rights, so that a call with a wrong length stays in the one before it. */
static char pages[3 * PAGE] __attribute__((aligned(4096)));
#define SPACE (pages + 2 * PAGE - ROOM)

static int file, other_file, kept, directory, ends[2], sockets[2], stranger, fresh_socket, listener;
static int events, watch, timer, queue, myself, messages, semaphores, segment, key, root_device;
static int first_free;
static struct sockaddr_un here_address, new_address, listener_address, some_address;
#define ADDRESS_BYTES (offsetof(struct sockaddr_un, sun_path) + 20)

static struct iovec vector, two[2];
static struct {
	struct cmsghdr header;
	int descriptor;
} control;
static struct msghdr message;
static struct mmsghdr several;
static char control_room[ROOM];
static struct {
	const void *set;
	size_t size;
} masked;
static struct sock_fprog filter;
static struct sock_filter filter_code = { BPF_RET | BPF_K, 0, 0, ROOM };
static struct ifconf interfaces;
static struct ifreq interface = { .ifr_name = "lo" };
static struct sigevent on_message, by_thread;
static char cookie[32];

static const int one = 1;
static socklen_t size;
static loff_t offset, second_offset;
/* Three sets, each of 4096 descriptors. */
static uint64_t set[192];
static const uint64_t no_signals;
static struct pollfd polled;
static struct epoll_event event;
static struct timespec none, long_time = { 10, 0 }, left;
static struct timeval no_time, times[2];
static struct timezone zone;
static const struct timespec stamps[2];
static const struct utimbuf stamp;
static struct itimerspec setting, old_setting;
static struct timex clock_state;
static struct stat status;
static struct statx more_status;
static struct statfs file_system;
static struct rlimit files_limit, memory_limit;
static struct rusage usage;
static siginfo_t info;
static struct __user_cap_header_struct header;
static struct __user_cap_data_struct capabilities[2];
static struct utsname names;
static struct sysinfo facts;
static struct open_how how;
static struct flock lock;
static struct f_owner_ex owner;
static uint64_t hint;
static uint32_t ids[3];
static struct sched_param parameter;
static struct {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
} schedule;
static struct {
	unsigned int bytes;
	int type;
	char rest[128];
} handle;
static struct {
	long type;
	char text[ROOM];
} letter;
static struct sembuf operation;
static unsigned short values[2];
static struct semid_ds semaphore_state;
static struct shmid_ds segment_state;
static struct msqid_ds messages_state;
static struct mq_attr attributes, old_attributes;
static struct sigaction action;
static struct ustat {
	char room[64];
} old_status;
static char name[16];
static int number, numbers[2];
static time_t now;

/* ---- before each try ---- */

static unsigned leaks;

/* The bytes that went through a pipe or a socket are from this program's memory. */
static void expect_own(const char *bytes, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++)
		if (bytes[i] != BYTE) {
			printf("a byte of somebody else's: %d\n", bytes[i]);
			leaks++;
			return;
		}
}

/* The pipe, the socket and the files have 64 bytes for a reader. */
static void fill(void)
{
	static char drain[16 * PAGE];
	ssize_t n;

	while ((n = read(ends[0], drain, sizeof(drain))) > 0)
		expect_own(drain, n);
	while ((n = recv(sockets[0], drain, sizeof(drain), MSG_DONTWAIT)) >= 0)
		expect_own(drain, n);
	/* An offset of somebody else's may have made a hole. */
	if (ftruncate(file, PAGE) || ftruncate(other_file, 0))
		puts("cannot truncate");
	n = pread(file, drain, sizeof(drain), 0);
	expect_own(drain, n);
	if (write(ends[1], SPACE, 64) != 64 || write(sockets[1], SPACE, 64) != 64)
		puts("cannot refill");
	lseek(file, 0, SEEK_SET);
	lseek(other_file, 0, SEEK_SET);
}

static void fresh_files(void)
{
	unlink("there");
	rmdir("there");
	close(open("here", O_CREAT | O_WRONLY, 0600));
	mkdir("folder", 0700);
	symlink("here", "link");
}

static void rewind_directory(void)
{
	lseek(directory, 0, SEEK_SET);
}

/* Files with an extended attribute, where the file system has these. */
static void attribute(void)
{
	fresh_files();
	setxattr("here", "user.a", SPACE, 8, 0);
	fsetxattr(kept, "user.a", SPACE, 8, 0);
}

static void new_socket(void)
{
	close(fresh_socket);
	fresh_socket = socket(AF_UNIX, SOCK_DGRAM, 0);
}

/* One connection waits for accept(2). */
static void connection(void)
{
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0)
		close(fd);
	close(fresh_socket);
	fresh_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connect(fresh_socket, (struct sockaddr *)&listener_address, ADDRESS_BYTES);
}

/* One child has ended. */
static void ended_child(void)
{
	pid_t child;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	child = fork();
	if (child == 0)
		_exit(0);
	waitid(P_PID, child, &info, WEXITED | WNOWAIT);
}

static void one_letter(void)
{
	while (msgrcv(messages, &letter, sizeof(letter.text), 0, IPC_NOWAIT | MSG_NOERROR) >= 0)
		;
	letter.type = 1;
	msgsnd(messages, &letter, 8, IPC_NOWAIT);
}

static void one_message(void)
{
	while (mq_receive(queue, control_room, sizeof(control_room), NULL) >= 0)
		;
	mq_send(queue, SPACE, 8, 0);
	mq_notify(queue, NULL);
}

static void no_message(void)
{
	while (mq_receive(queue, control_room, sizeof(control_room), NULL) >= 0)
		;
}

static void another_queue(void)
{
	mqd_t made = mq_open("/foreign-unlink", O_CREAT | O_RDWR, 0600, NULL);

	if (made >= 0)
		mq_close(made);
}

/* Signals come again and again, because the first may come before the call begins. */
static void signal_soon(void)
{
	const struct itimerval soon = { { 0, 50000 }, { 0, 50000 } };

	setitimer(ITIMER_REAL, &soon, NULL);
}

static void signal_no_more(void)
{
	const struct itimerval never = { 0 };

	setitimer(ITIMER_REAL, &never, NULL);
}

/* Gives everything that a call may have changed its value again. */
static void reset(void)
{
	memset(SPACE, BYTE, ROOM);
	vector = (struct iovec){ SPACE, 64 };
	two[0] = (struct iovec){ SPACE, 8 };
	two[1] = (struct iovec){ SPACE + 8, 64 };
	control.header = (struct cmsghdr){ sizeof(control), SOL_SOCKET, SCM_RIGHTS };
	control.descriptor = file;
	message = (struct msghdr){ .msg_iov = &vector, .msg_iovlen = 1 };
	message.msg_name = &some_address;
	message.msg_namelen = sizeof(some_address);
	message.msg_control = control_room;
	message.msg_controllen = sizeof(control_room);
	several.msg_hdr = message;
	masked.set = &no_signals;
	masked.size = 8;
	filter = (struct sock_fprog){ 1, &filter_code };
	interfaces.ifc_len = ROOM;
	interfaces.ifc_buf = SPACE;
	size = sizeof(some_address);
	offset = second_offset = 0;
	memset(set, 0, sizeof(set));
	set[0] = 1UL << ends[0];
	polled = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	event = (struct epoll_event){ .events = EPOLLIN };
	memset(&none, 0, sizeof(none));
	memset(&no_time, 0, sizeof(no_time));
	clock_state.modes = 0;
	header = (struct __user_cap_header_struct){ .version = _LINUX_CAPABILITY_VERSION_3 };
	memset(capabilities, 0, sizeof(capabilities));
	lock = (struct flock){ .l_type = F_WRLCK };
	owner = (struct f_owner_ex){ F_OWNER_PID, getpid() };
	handle.bytes = sizeof(handle.rest);
	operation = (struct sembuf){ 0, 1, IPC_NOWAIT };
	schedule.size = sizeof(schedule);
	letter.type = 1;
	strcpy(name, "foreign");
	info.si_signo = 0;
	info.si_code = SI_QUEUE;
	on_message = (struct sigevent){ .sigev_notify = SIGEV_NONE };
	by_thread = (struct sigevent){ .sigev_notify = SIGEV_THREAD, .sigev_signo = -1 };
	by_thread.sigev_value.sival_ptr = cookie;
}

static void message_to_send(void)
{
	fill();
	message.msg_name = &here_address;
	message.msg_namelen = ADDRESS_BYTES;
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	several.msg_hdr = message;
}

/* ---- the calls ---- */

enum kind { VALUE, DESCRIPTOR, READS, WRITES, LENGTH };

struct argument {
	enum kind kind;
	uint64_t value; /* of a DESCRIPTOR: where it is */
};

/* A word that a call finds in memory that an argument names. */
struct part {
	const char *of;
	enum kind kind;
	void *where;
};

enum {
	COUNTS = 1,  /* the result is a number of bytes */
	OPENS = 2,   /* makes descriptors */
	MASTERS = 4, /* changes the machine if root makes it */
	COPIES = 8,  /* on the LWK the bytes before the first bad one may not be transferred */
};

#define CALL(name) #name, __NR_##name
#define N(number) { VALUE, (uint64_t)(number) }
#define F(descriptor) { DESCRIPTOR, (uint64_t)&(descriptor) }
#define R(pointer) { READS, (uint64_t)(pointer) }
#define W(pointer) { WRITES, (uint64_t)(pointer) }
#define L(number) { LENGTH, (uint64_t)(number) }
#define PART(kind, place) { #place, kind, &(place) }

static const struct call {
	const char *name;
	long nr;
	void (*prepare)(void);
	int flags;
	struct argument arguments[6];
	struct part parts[5];
} calls[] = {
	/* clang-format off */
	/* transfers */
	{ CALL(read), fill, COUNTS, { F(file), W(SPACE), L(64) } },
	{ CALL(read), fill, COUNTS, { F(ends[0]), W(SPACE), L(64) } },
	{ CALL(write), fill, COUNTS, { F(file), R(SPACE), L(64) } },
	{ CALL(write), fill, COUNTS, { F(ends[1]), R(SPACE), L(64) } },
	{ CALL(pread64), fill, COUNTS, { F(file), W(SPACE), L(64) } },
	{ CALL(pwrite64), fill, COUNTS, { F(file), R(SPACE), L(64) } },
	{ CALL(readv), fill, COUNTS, { F(file), R(&vector), L(1) },
	  { PART(WRITES, vector.iov_base), PART(LENGTH, vector.iov_len) } },
	{ CALL(writev), fill, COUNTS, { F(ends[1]), R(&vector), L(1) },
	  { PART(READS, vector.iov_base), PART(LENGTH, vector.iov_len) } },
	{ CALL(readv), fill, COUNTS, { F(file), R(two), N(2) }, { PART(WRITES, two[1].iov_base) } },
	{ CALL(writev), fill, COUNTS, { F(ends[1]), R(two), N(2) }, { PART(READS, two[1].iov_base) } },
	{ CALL(preadv), fill, COUNTS, { F(file), R(&vector), L(1) },
	  { PART(WRITES, vector.iov_base), PART(LENGTH, vector.iov_len) } },
	{ CALL(pwritev), fill, COUNTS, { F(file), R(&vector), L(1) },
	  { PART(READS, vector.iov_base), PART(LENGTH, vector.iov_len) } },
	{ CALL(preadv2), fill, COUNTS, { F(file), R(&vector), L(1) },
	  { PART(WRITES, vector.iov_base), PART(LENGTH, vector.iov_len) } },
	{ CALL(pwritev2), fill, COUNTS, { F(file), R(&vector), L(1) },
	  { PART(READS, vector.iov_base), PART(LENGTH, vector.iov_len) } },
	{ CALL(sendfile), fill, COUNTS, { F(ends[1]), F(file), W(&offset), L(64) } },
	{ CALL(copy_file_range), fill, COUNTS,
	  { F(file), W(&offset), F(other_file), W(&second_offset), L(64) } },
	{ CALL(splice), fill, COUNTS,
	  { F(file), W(&offset), F(ends[1]), N(0), L(64), N(SPLICE_F_NONBLOCK) } },
	{ CALL(splice), fill, COUNTS,
	  { F(ends[0]), N(0), F(file), W(&offset), L(64), N(SPLICE_F_NONBLOCK) } },
	{ CALL(vmsplice), fill, COUNTS | COPIES, { F(ends[1]), R(&vector), L(1), N(SPLICE_F_NONBLOCK) },
	  { PART(READS, vector.iov_base) } },
	{ CALL(vmsplice), fill, COUNTS, { F(ends[0]), R(&vector), L(1), N(SPLICE_F_NONBLOCK) },
	  { PART(WRITES, vector.iov_base) } },
	/* files by their paths */
	{ CALL(open), fresh_files, OPENS, { R("here"), N(O_RDONLY) } },
	{ CALL(openat), fresh_files, OPENS, { N(AT_FDCWD), R("here"), N(O_RDONLY) } },
	{ CALL(openat2), fresh_files, OPENS, { N(AT_FDCWD), R("here"), R(&how), L(sizeof(how)) } },
	{ CALL(creat), fresh_files, OPENS, { R("there"), N(0600) } },
	{ CALL(stat), fresh_files, 0, { R("here"), W(&status) } },
	{ CALL(lstat), fresh_files, 0, { R("here"), W(&status) } },
	{ CALL(stat), fresh_files, 0, { R("/proc/self/exe"), W(&status) } },
	{ CALL(newfstatat), fresh_files, 0, { N(AT_FDCWD), R("here"), W(&status) } },
	{ CALL(statx), fresh_files, 0,
	  { N(AT_FDCWD), R("here"), N(0), N(STATX_ALL), W(&more_status) } },
	{ CALL(access), fresh_files, 0, { R("here"), N(R_OK) } },
	{ CALL(faccessat), fresh_files, 0, { N(AT_FDCWD), R("here"), N(R_OK) } },
	{ CALL(faccessat2), fresh_files, 0, { N(AT_FDCWD), R("here"), N(R_OK) } },
	{ CALL(truncate), fresh_files, 0, { R("here") } },
	{ CALL(chdir), NULL, 0, { R(".") } },
	{ CALL(rename), fresh_files, 0, { R("here"), R("there") } },
	{ CALL(renameat), fresh_files, 0, { N(AT_FDCWD), R("here"), N(AT_FDCWD), R("there") } },
	{ CALL(renameat2), fresh_files, 0, { N(AT_FDCWD), R("here"), N(AT_FDCWD), R("there") } },
	{ CALL(mkdir), fresh_files, 0, { R("there"), N(0700) } },
	{ CALL(mkdirat), fresh_files, 0, { N(AT_FDCWD), R("there"), N(0700) } },
	{ CALL(rmdir), fresh_files, 0, { R("folder") } },
	{ CALL(unlink), fresh_files, 0, { R("here") } },
	{ CALL(unlinkat), fresh_files, 0, { N(AT_FDCWD), R("here") } },
	{ CALL(link), fresh_files, 0, { R("here"), R("there") } },
	{ CALL(linkat), fresh_files, 0, { N(AT_FDCWD), R("here"), N(AT_FDCWD), R("there") } },
	{ CALL(symlink), fresh_files, 0, { R("here"), R("there") } },
	{ CALL(symlinkat), fresh_files, 0, { R("here"), N(AT_FDCWD), R("there") } },
	{ CALL(readlink), fresh_files, COUNTS, { R("link"), W(SPACE), L(64) } },
	{ CALL(readlink), fresh_files, 0, { R("/proc/self/exe"), W(SPACE), L(64) } },
	{ CALL(readlinkat), fresh_files, COUNTS, { N(AT_FDCWD), R("link"), W(SPACE), L(64) } },
	{ CALL(chmod), fresh_files, 0, { R("here"), N(0600) } },
	{ CALL(fchmodat), fresh_files, 0, { N(AT_FDCWD), R("here"), N(0600) } },
	{ CALL(chown), fresh_files, 0, { R("here"), N(-1), N(-1) } },
	{ CALL(lchown), fresh_files, 0, { R("here"), N(-1), N(-1) } },
	{ CALL(fchownat), fresh_files, 0, { N(AT_FDCWD), R("here"), N(-1), N(-1) } },
	{ CALL(mknod), fresh_files, 0, { R("there"), N(S_IFIFO | 0600) } },
	{ CALL(mknodat), fresh_files, 0, { N(AT_FDCWD), R("there"), N(S_IFIFO | 0600) } },
	{ CALL(utime), fresh_files, 0, { R("here"), R(&stamp) } },
	{ CALL(utimes), fresh_files, 0, { R("here"), R(times) } },
	{ CALL(futimesat), fresh_files, 0, { N(AT_FDCWD), R("here"), R(times) } },
	{ CALL(utimensat), fresh_files, 0, { N(AT_FDCWD), R("here"), R(stamps) } },
	{ CALL(statfs), fresh_files, 0, { R("here"), W(&file_system) } },
	{ CALL(setxattr), attribute, 0, { R("here"), R("user.a"), R(SPACE), L(8) } },
	{ CALL(lsetxattr), attribute, 0, { R("here"), R("user.a"), R(SPACE), L(8) } },
	{ CALL(getxattr), attribute, COUNTS, { R("here"), R("user.a"), W(SPACE), L(64) } },
	{ CALL(lgetxattr), attribute, COUNTS, { R("here"), R("user.a"), W(SPACE), L(64) } },
	{ CALL(listxattr), attribute, 0, { R("here"), W(SPACE), L(64) } },
	{ CALL(llistxattr), attribute, 0, { R("here"), W(SPACE), L(64) } },
	{ CALL(removexattr), attribute, 0, { R("here"), R("user.a") } },
	{ CALL(lremovexattr), attribute, 0, { R("here"), R("user.a") } },
	{ CALL(inotify_add_watch), fresh_files, 0, { F(watch), R("here"), N(IN_OPEN) } },
	{ CALL(name_to_handle_at), fresh_files, 0,
	  { N(AT_FDCWD), R("here"), W(&handle), W(&number) } },
	{ CALL(open_by_handle_at), fresh_files, OPENS, { N(AT_FDCWD), R(&handle), N(O_RDONLY) } },
	/* files by their descriptors */
	{ CALL(fstat), NULL, 0, { F(file), W(&status) } },
	{ CALL(fstatfs), NULL, 0, { F(file), W(&file_system) } },
	{ CALL(fsetxattr), attribute, 0, { F(kept), R("user.a"), R(SPACE), L(8) } },
	{ CALL(fgetxattr), attribute, COUNTS, { F(kept), R("user.a"), W(SPACE), L(64) } },
	{ CALL(flistxattr), attribute, 0, { F(kept), W(SPACE), L(64) } },
	{ CALL(fremovexattr), attribute, 0, { F(kept), R("user.a") } },
	{ CALL(getdents), rewind_directory, 0, { F(directory), W(SPACE), L(ROOM) } },
	{ CALL(getdents64), rewind_directory, 0, { F(directory), W(SPACE), L(ROOM) } },
	{ CALL(getcwd), NULL, 0, { W(SPACE), L(ROOM) } },
	{ CALL(pipe), NULL, OPENS, { W(numbers) } },
	{ CALL(pipe2), NULL, OPENS, { W(numbers) } },
	{ CALL(memfd_create), NULL, OPENS, { R("name") } },
	{ CALL(ioctl), fill, 0, { F(ends[0]), N(FIONREAD), W(&number) } },
	{ CALL(ioctl), NULL, 0, { F(ends[0]), N(FIONBIO), R(&one) } },
	{ CALL(ioctl), NULL, 0, { F(stranger), N(SIOCGIFCONF), W(&interfaces) },
	  { PART(WRITES, interfaces.ifc_buf) } },
	{ CALL(ioctl), NULL, 0, { F(stranger), N(SIOCGIFFLAGS), W(&interface) } },
	{ CALL(fcntl), NULL, 0, { F(file), N(F_GETLK), W(&lock) } },
	{ CALL(fcntl), NULL, 0, { F(file), N(F_SETLK), R(&lock) } },
	{ CALL(fcntl), NULL, 0, { F(file), N(F_OFD_GETLK), W(&lock) } },
	{ CALL(fcntl), NULL, 0, { F(file), N(F_GETOWN_EX), W(&owner) } },
	{ CALL(fcntl), NULL, 0, { F(ends[0]), N(F_SETOWN_EX), R(&owner) } },
	{ CALL(fcntl), NULL, 0, { F(file), N(F_GET_RW_HINT), W(&hint) } },
	{ CALL(sysfs), NULL, 0, { N(1), R("tmpfs") } },
	{ CALL(sysfs), NULL, 0, { N(2), N(0), W(SPACE) } },
	{ CALL(ustat), NULL, 0, { F(root_device), W(&old_status) } },
	/* semaphores, shared memory and messages */
	{ CALL(semctl), NULL, 0, { F(semaphores), N(0), N(GETALL), W(values) } },
	{ CALL(semctl), NULL, 0, { F(semaphores), N(0), N(SETALL), R(values) } },
	{ CALL(semctl), NULL, 0, { F(semaphores), N(0), N(IPC_STAT), W(&semaphore_state) } },
	{ CALL(semctl), NULL, 0, { F(semaphores), N(0), N(IPC_SET), R(&semaphore_state) } },
	{ CALL(semop), NULL, 0, { F(semaphores), R(&operation), L(1) } },
	{ CALL(semtimedop), NULL, 0, { F(semaphores), R(&operation), L(1), R(&none) } },
	{ CALL(shmctl), NULL, 0, { F(segment), N(IPC_STAT), W(&segment_state) } },
	{ CALL(shmctl), NULL, 0, { F(segment), N(IPC_SET), R(&segment_state) } },
	{ CALL(msgctl), NULL, 0, { F(messages), N(IPC_STAT), W(&messages_state) } },
	{ CALL(msgctl), NULL, 0, { F(messages), N(IPC_SET), R(&messages_state) } },
	{ CALL(msgsnd), one_letter, 0, { F(messages), R(&letter), L(8), N(IPC_NOWAIT) } },
	{ CALL(msgrcv), one_letter, COUNTS,
	  { F(messages), W(SPACE), L(8), N(0), N(IPC_NOWAIT | MSG_NOERROR) } },
	{ CALL(mq_open), NULL, OPENS,
	  { R("foreign-open"), N(O_CREAT | O_RDWR), N(0600), R(&attributes) } },
	{ CALL(mq_unlink), another_queue, 0, { R("foreign-unlink") } },
	{ CALL(mq_timedsend), no_message, 0, { F(queue), R(SPACE), L(8), N(0), R(&none) } },
	{ CALL(mq_timedreceive), one_message, COUNTS,
	  { F(queue), W(SPACE), L(64), W(&number), R(&none) } },
	{ CALL(mq_notify), one_message, 0, { F(queue), R(&on_message) } },
	{ CALL(mq_notify), one_message, 0, { F(queue), R(&by_thread) },
	  { PART(READS, by_thread.sigev_value.sival_ptr) } },
	{ CALL(mq_getsetattr), NULL, 0, { F(queue), R(&attributes), W(&old_attributes) } },
	/* time */
	{ CALL(timerfd_settime), NULL, 0, { F(timer), N(0), R(&setting), W(&old_setting) } },
	{ CALL(timerfd_gettime), NULL, 0, { F(timer), W(&old_setting) } },
	{ CALL(gettimeofday), NULL, 0, { W(times), W(&zone) } },
	{ CALL(time), NULL, 0, { W(&now) } },
	{ CALL(adjtimex), NULL, 0, { W(&clock_state) } },
	{ CALL(clock_adjtime), NULL, 0, { N(0), W(&clock_state) } },
	{ CALL(clock_settime), NULL, MASTERS, { N(0), R(&none) } },
	{ CALL(settimeofday), NULL, MASTERS, { R(times), R(&zone) } },
	/* waits */
	{ CALL(epoll_ctl), NULL, 0, { F(events), N(EPOLL_CTL_MOD), F(ends[0]), R(&event) } },
	{ CALL(epoll_wait), fill, 0, { F(events), W(SPACE), L(1) } },
	{ CALL(epoll_pwait), fill, 0, { F(events), W(SPACE), L(1), N(0), R(&no_signals), N(8) } },
	{ CALL(epoll_pwait2), fill, 0,
	  { F(events), W(SPACE), L(1), R(&none), R(&no_signals), N(8) } },
	{ CALL(poll), fill, 0, { W(&polled), L(1) } },
	{ CALL(ppoll), fill, 0, { W(&polled), L(1), W(&none), R(&no_signals), N(8) } },
	{ CALL(select), fill, 0, { L(64), W(set), W(set + 64), W(set + 128), W(&no_time) } },
	{ CALL(pselect6), fill, 0, { L(64), W(set), W(set + 64), W(set + 128), W(&none), R(&masked) },
	  { PART(READS, masked.set), PART(LENGTH, masked.size) } },
	{ CALL(nanosleep), NULL, 0, { R(&none) } },
	{ CALL(nanosleep), signal_soon, 0, { R(&long_time), W(&left) } },
	{ CALL(wait4), ended_child, 0, { N(-1), W(&number), N(WNOHANG), W(&usage) } },
	{ CALL(waitid), ended_child, 0,
	  { N(P_ALL), N(0), W(&info), N(WEXITED | WNOHANG | WNOWAIT), W(&usage) } },
	/* networks */
	{ CALL(connect), new_socket, 0, { F(fresh_socket), R(&here_address), L(ADDRESS_BYTES) } },
	{ CALL(bind), new_socket, 0, { F(fresh_socket), R(&new_address), L(ADDRESS_BYTES) } },
	{ CALL(accept), connection, OPENS, { F(listener), W(&some_address), W(&size) } },
	{ CALL(accept4), connection, OPENS, { F(listener), W(&some_address), W(&size) } },
	{ CALL(sendto), fill, COUNTS,
	  { F(stranger), R(SPACE), L(64), N(MSG_DONTWAIT), R(&here_address), L(ADDRESS_BYTES) } },
	{ CALL(recvfrom), fill, COUNTS,
	  { F(sockets[0]), W(SPACE), L(64), N(MSG_DONTWAIT), W(&some_address), W(&size) } },
	{ CALL(sendmsg), message_to_send, COUNTS, { F(stranger), R(&message), N(MSG_DONTWAIT) },
	  { PART(READS, message.msg_name), PART(READS, message.msg_iov),
	    PART(READS, message.msg_control), PART(READS, vector.iov_base) } },
	{ CALL(recvmsg), fill, COUNTS, { F(sockets[0]), W(&message), N(MSG_DONTWAIT) },
	  { PART(WRITES, message.msg_name), PART(READS, message.msg_iov),
	    PART(WRITES, message.msg_control), PART(WRITES, vector.iov_base) } },
	{ CALL(sendmmsg), message_to_send, 0, { F(stranger), W(&several), N(1), N(MSG_DONTWAIT) },
	  { PART(READS, several.msg_hdr.msg_name), PART(READS, several.msg_hdr.msg_iov),
	    PART(READS, several.msg_hdr.msg_control), PART(READS, vector.iov_base) } },
	{ CALL(recvmmsg), fill, 0, { F(sockets[0]), W(&several), N(1), N(MSG_DONTWAIT), W(&none) },
	  { PART(WRITES, several.msg_hdr.msg_name), PART(READS, several.msg_hdr.msg_iov),
	    PART(WRITES, several.msg_hdr.msg_control), PART(WRITES, vector.iov_base) } },
	{ CALL(getsockname), NULL, 0, { F(sockets[0]), W(&some_address), W(&size) } },
	{ CALL(getpeername), NULL, 0, { F(sockets[1]), W(&some_address), W(&size) } },
	{ CALL(socketpair), NULL, OPENS, { N(AF_UNIX), N(SOCK_DGRAM), N(0), W(numbers) } },
	{ CALL(setsockopt), NULL, 0, { F(stranger), N(SOL_SOCKET), N(SO_RCVBUF), R(&one), L(4) } },
	{ CALL(setsockopt), NULL, 0,
	  { F(stranger), N(SOL_SOCKET), N(SO_ATTACH_FILTER), R(&filter), L(sizeof(filter)) },
	  { PART(READS, filter.filter) } },
	{ CALL(getsockopt), NULL, 0,
	  { F(stranger), N(SOL_SOCKET), N(SO_TYPE), W(SPACE), W(&size) } },
	/* the process */
	{ CALL(getresuid), NULL, 0, { W(ids), W(ids + 1), W(ids + 2) } },
	{ CALL(getresgid), NULL, 0, { W(ids), W(ids + 1), W(ids + 2) } },
	{ CALL(getgroups), NULL, 0, { L(64), W(SPACE) } },
	{ CALL(setgroups), NULL, 0, { N(1), R(ids) } },
	{ CALL(capget), NULL, 0, { W(&header), W(capabilities) } },
	{ CALL(capset), NULL, 0, { W(&header), R(capabilities) } },
	{ CALL(getrlimit), NULL, 0, { N(RLIMIT_NOFILE), W(&files_limit) } },
	{ CALL(getrlimit), NULL, 0, { N(RLIMIT_AS), W(&memory_limit) } },
	{ CALL(setrlimit), NULL, 0, { N(RLIMIT_NOFILE), R(&files_limit) } },
	{ CALL(setrlimit), NULL, 0, { N(RLIMIT_AS), R(&memory_limit) } },
	{ CALL(prlimit64), NULL, 0, { N(0), N(RLIMIT_NOFILE), R(&files_limit), W(&files_limit) } },
	{ CALL(prlimit64), NULL, 0, { N(0), N(RLIMIT_AS), R(&memory_limit), W(&memory_limit) } },
	{ CALL(getrandom), NULL, COUNTS, { W(SPACE), L(64) } },
	{ CALL(sethostname), NULL, MASTERS, { R("foreign"), L(7) } },
	{ CALL(sched_getparam), NULL, 0, { N(0), W(&parameter) } },
	{ CALL(sched_setparam), NULL, 0, { N(0), R(&parameter) } },
	{ CALL(sched_setscheduler), NULL, 0, { N(0), N(0), R(&parameter) } },
	{ CALL(sched_getattr), NULL, 0, { N(0), W(SPACE), L(sizeof(schedule)) } },
	{ CALL(sched_setattr), NULL, 0, { N(0), W(&schedule) } },
	{ CALL(sched_rr_get_interval), NULL, 0, { N(0), W(&left) } },
	{ CALL(pidfd_send_signal), NULL, 0, { F(myself), N(0), R(&info) } },
	{ CALL(prctl), NULL, 0, { N(PR_SET_NAME), R(name) } },
	{ CALL(prctl), NULL, 0, { N(PR_GET_NAME), W(SPACE) } },
	{ CALL(prctl), NULL, 0, { N(PR_GET_PDEATHSIG), W(&number) } },
	{ CALL(prctl), NULL, 0, { N(PR_GET_CHILD_SUBREAPER), W(&number) } },
	{ CALL(uname), NULL, 0, { W(&names) } },
	{ CALL(sysinfo), NULL, 0, { W(&facts) } },
	{ CALL(signalfd), NULL, OPENS, { N(-1), R(&no_signals), N(8) } },
	{ CALL(signalfd4), NULL, OPENS, { N(-1), R(&no_signals), N(8) } },
	{ CALL(add_key), NULL, 0,
	  { R("user"), R("foreign"), R(SPACE), L(8), N(KEY_SPEC_PROCESS_KEYRING) } },
	{ CALL(request_key), NULL, 0, { R("user"), R("foreign"), R("more"), N(0) } },
	{ CALL(keyctl), NULL, 0, { N(KEYCTL_JOIN_SESSION_KEYRING), R("foreign") } },
	{ CALL(keyctl), NULL, 0, { N(KEYCTL_UPDATE), F(key), R(SPACE), L(8) } },
	{ CALL(keyctl), NULL, 0, { N(KEYCTL_DESCRIBE), F(key), W(SPACE), L(64) } },
	{ CALL(keyctl), NULL, 0, { N(KEYCTL_READ), F(key), W(SPACE), L(64) } },
	{ CALL(keyctl), NULL, 0,
	  { N(KEYCTL_SEARCH), N(KEY_SPEC_PROCESS_KEYRING), R("user"), R("foreign") } },
};

/* Calls without an address. */
static const char *const without[] = {
	"alarm", "close", "close_range", "dup", "dup2", "dup3", "epoll_create", "epoll_create1",
	"eventfd", "eventfd2", "fadvise64", "fallocate", "fchdir", "fchmod", "fchown", "fdatasync",
	"flock", "fsync", "ftruncate", "getegid", "geteuid", "getgid", "getpgid", "getpgrp",
	"getppid", "getpriority", "getsid", "getuid", "inotify_init", "inotify_init1",
	"inotify_rm_watch", "ioprio_get", "ioprio_set", "kcmp", "listen", "lseek", "msgget",
	"personality", "pidfd_getfd", "pidfd_open", "readahead", "sched_get_priority_max",
	"sched_get_priority_min", "sched_getscheduler", "semget", "setfsgid", "setfsuid", "setgid",
	"setpgid", "setpriority", "setregid", "setresgid", "setresuid", "setreuid", "setsid",
	"setuid", "shmget", "shutdown", "socket", "sync", "sync_file_range", "syncfs", "tee",
	"timerfd_create", "umask",
};
/* clang-format on */

/* ---- the tries ---- */

static struct place {
	const char *name;
	uint64_t address;
	bool readable; /* a call that only reads there is not tried */
} places[] = {
	{ "Linux's text", 0xffffffff81000000, false },
	{ "Linux's memory", 0xffff888000000000, false },
	{ "the LWK's image", LWK_IMAGE_BASE, false },
	{ "the LWK's memory", LWK_DIRECT_MAP, false },
	{ "the LWK's memory, further on", LWK_DIRECT_MAP + 0x10000000, false },
	{ "the APIC", LWK_LAPIC_VADDR, false },
	{ "the last page", -PAGE, false },
	{ "the last bytes", -8UL, false },
	{ "no canonical address", 0x8000000000000000, false },
	{ "the first address that is not canonical", 0x800000000000, false },
	{ "the first page", 8, false },
	{ "no memory", 0x10000001000, false },
	{ "memory without rights", (uint64_t)(pages + 2 * PAGE), false },
	{ "behind a mapping", 0, false },
	{ "across the end of a mapping", 0, false },
	{ "the program's text", (uint64_t)fill, true },
	{ "the LWK's clock", LWK_CLOCK_VADDR, true },
	{ "the vDSO", LWK_VDSO_VADDR, true },
};
#define BEHIND 13
#define ACROSS 14

static const uint64_t lengths[] = { -1UL,      -PAGE,	  1UL << 63, (1UL << 63) + PAGE,
				    1UL << 47, 1UL << 32, 1UL << 31 };

static unsigned tries;

/* Makes the call; 'where' may have been changed by the caller. */
static long make(const struct call *call, const uint64_t arguments[6])
{
	long result = syscall(call->nr, arguments[0], arguments[1], arguments[2], arguments[3],
			      arguments[4], arguments[5]);

	tries++;
	result = result < 0 ? -errno : call->flags & COUNTS ? result : 0;
	if (call->flags & COPIES && result > 0 && result < 64)
		result = -EFAULT;
	if (call->flags & OPENS && result >= 0) {
		for (int fd = first_free; fd < first_free + 4; fd++)
			close(fd);
	}
	return result;
}

static void take_values(const struct call *call, uint64_t values[6])
{
	for (int i = 0; i < 6; i++) {
		values[i] = call->arguments[i].value;
		if (call->arguments[i].kind == DESCRIPTOR)
			values[i] = *(const int *)call->arguments[i].value;
	}
}

/* Makes the call with 'value' for argument 'i', or for part 'i' - 6; -1: with valid values only. */
static long try_value(const struct call *call, int i, uint64_t value)
{
	uint64_t values[6];
	const void *text = (const void *)fill;
	char before[64];
	long result;

	reset();
	memcpy(before, text, sizeof(before));
	memset((char *)places[ACROSS].address, BYTE,
	       places[BEHIND].address - places[ACROSS].address);
	if (call->prepare)
		call->prepare();
	take_values(call, values);
	if (i >= 6)
		memcpy(call->parts[i - 6].where, &value, sizeof(value));
	else if (i >= 0)
		values[i] = value;
	result = make(call, values);
	if (call->prepare == signal_soon)
		signal_no_more();
	if (memcmp(before, text, sizeof(before)) != 0) {
		printf("%s changed the program's text\n", call->name);
		leaks++;
	}
	return result;
}

static void try_one(const struct call *call, int i, enum kind kind)
{
	char what[80];

	if (i < 6)
		snprintf(what, sizeof(what), "%s %d", call->name, i);
	else
		snprintf(what, sizeof(what), "%s of %s", call->name, call->parts[i - 6].of);
	for (size_t at = 0; kind == LENGTH && at < COUNT(lengths); at++)
		printf("%s length %#lx: %ld\n", what, lengths[at], try_value(call, i, lengths[at]));
	for (size_t at = 0; (kind == READS || kind == WRITES) && at < COUNT(places); at++)
		if (kind == WRITES || !places[at].readable)
			printf("%s %s: %ld\n", what, places[at].name,
			       try_value(call, i, places[at].address));
}

static void try_all(const struct call *call)
{
	printf("%s valid: %ld\n", call->name, try_value(call, -1, 0));
	for (int i = 0; i < 6; i++)
		try_one(call, i, call->arguments[i].kind);
	for (size_t i = 0; i < COUNT(call->parts) && call->parts[i].of; i++)
		try_one(call, 6 + i, call->parts[i].kind);
}

static void list(void)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		for (int at = 0; at < 6; at++)
			if (calls[i].arguments[at].kind == READS ||
			    calls[i].arguments[at].kind == WRITES)
				printf("%s %d\n", calls[i].name, at);
	for (size_t i = 0; i < COUNT(without); i++)
		puts(without[i]);
}

/* ---- preparing ---- */

static void on_alarm(int signal)
{
	(void)signal;
}

static struct sockaddr_un address_of(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	/* An abstract address, of as many characters for each name. */
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s-%08d", name, getpid());
	return address;
}

static int bound(int type, const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, type, 0);

	return fd < 0 || bind(fd, (const struct sockaddr *)address, ADDRESS_BYTES) ? -1 : fd;
}

static bool make_sockets(void)
{
	struct sockaddr_un other = address_of("other----");

	here_address = address_of("here-----");
	new_address = address_of("new------");
	listener_address = address_of("listener-");
	sockets[0] = bound(SOCK_DGRAM, &here_address);
	sockets[1] = bound(SOCK_DGRAM, &other);
	stranger = socket(AF_UNIX, SOCK_DGRAM, 0);
	listener = bound(SOCK_STREAM | SOCK_NONBLOCK, &listener_address);
	fresh_socket = socket(AF_UNIX, SOCK_DGRAM, 0);
	return sockets[0] >= 0 && sockets[1] >= 0 && listener >= 0 && listen(listener, 4) == 0 &&
	       connect(sockets[1], (struct sockaddr *)&here_address, ADDRESS_BYTES) == 0 &&
	       setsockopt(sockets[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) == 0;
}

static bool make_files(void)
{
	struct stat root;

	file = memfd_create("data", 0);
	other_file = memfd_create("other", 0);
	kept = open("kept", O_CREAT | O_RDWR, 0600);
	directory = open(".", O_RDONLY | O_DIRECTORY);
	events = epoll_create1(0);
	watch = inotify_init();
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	myself = syscall(__NR_pidfd_open, getpid(), 0);
	event.events = EPOLLIN;
	if (stat("/", &root) == 0)
		root_device = root.st_dev;
	return file >= 0 && other_file >= 0 && kept >= 0 && directory >= 0 && watch >= 0 &&
	       timer >= 0 && myself >= 0 && pipe2(ends, O_NONBLOCK) == 0 &&
	       epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &event) == 0;
}

static bool make_queues(void)
{
	struct mq_attr few = { .mq_maxmsg = 4, .mq_msgsize = 64 };

	attributes = few;
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	segment = shmget(IPC_PRIVATE, PAGE, 0600);
	messages = msgget(IPC_PRIVATE, 0600);
	semaphore_state.sem_perm.mode = segment_state.shm_perm.mode = 0600;
	messages_state.msg_perm.mode = 0600;
	semaphore_state.sem_perm.uid = segment_state.shm_perm.uid = messages_state.msg_perm.uid =
		getuid();
	semaphore_state.sem_perm.gid = segment_state.shm_perm.gid = messages_state.msg_perm.gid =
		getgid();
	messages_state.msg_qbytes = 4096;
	mq_unlink("/foreign");
	queue = mq_open("/foreign", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &few);
	key = syscall(__NR_add_key, "user", "foreign", SPACE, 8, KEY_SPEC_PROCESS_KEYRING);
	return semaphores >= 0 && segment >= 0 && messages >= 0 && queue >= 0;
}

static bool prepare(void)
{
	char *mapping =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	action.sa_handler = on_alarm;
	if (mapping == MAP_FAILED || munmap(mapping + PAGE, PAGE) ||
	    mprotect(pages + 2 * PAGE, PAGE, PROT_NONE) || sigaction(SIGALRM, &action, NULL))
		return false;
	places[BEHIND].address = (uint64_t)mapping + PAGE;
	places[ACROSS].address = (uint64_t)mapping + PAGE - 4;
	memset(SPACE, BYTE, ROOM);
	getrlimit(RLIMIT_NOFILE, &files_limit);
	getrlimit(RLIMIT_AS, &memory_limit);
	if (!make_sockets() || !make_files() || !make_queues())
		return false;
	first_free = dup(0);
	close(first_free);
	for (int i = 0; i < 8; i++)
		if (write(file, SPACE, ROOM) != ROOM)
			return false;
	return true;
}

static void remove_all(void)
{
	static const char *const left[] = { "here", "there", "link", "kept" };

	for (size_t i = 0; i < COUNT(left); i++)
		unlink(left[i]);
	rmdir("folder");
	rmdir("there");
	semctl(semaphores, 0, IPC_RMID);
	shmctl(segment, IPC_RMID, NULL);
	msgctl(messages, IPC_RMID, NULL);
	mq_unlink("/foreign");
	mq_unlink("/foreign-open");
	mq_unlink("/foreign-unlink");
}

int main(int argc, char **argv)
{
	static char room[1 << 16], directory_name[] = "/tmp/foreign-XXXXXX";

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	setvbuf(stdout, room, _IOFBF, sizeof(room));
	if (!mkdtemp(directory_name) || chdir(directory_name) || !prepare()) {
		perror("foreign-delegated");
		return 2;
	}
	for (size_t i = 0; i < COUNT(calls); i++)
		if (!(calls[i].flags & MASTERS) || geteuid() != 0)
			try_all(&calls[i]);
	remove_all();
	rmdir(directory_name);
	printf("%u tries, %u wrong\n", tries, leaks);
	return leaks ? 1 : 0;
}
