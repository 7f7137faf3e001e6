/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks on Linux and on an LWK what Linux promises of shared memory (mmap MAP_SHARED):
 *   shared-memory calls DIRECTORY   one process, a file in that directory
 *   shared-memory disk DIRECTORY    calls that only files on a disk have
 *   shared-memory with FILE N       one of N processes, each on Linux or on an LWK
 *   shared-memory hold FILE BYTES   maps and touches so much, says so, and waits
 *   shared-memory fork FILE N       N children of one process, and what they share with it
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define PAGE 4096UL
#define ROUNDS 2000

static char path[PATH_MAX];
static sigjmp_buf after_fault;
static volatile sig_atomic_t fault_signal;

static void on_fault(int signal)
{
	fault_signal = signal;
	siglongjmp(after_fault, 1);
}

/* The signal that touching it gives, or 0. */
static int touch(volatile char *at, bool write)
{
	fault_signal = 0;
	if (sigsetjmp(after_fault, 1) == 0) {
		if (write)
			*at = 'w';
		else
			(void)*at;
	}
	return fault_signal;
}

static int make_file(off_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	return fd >= 0 && ftruncate(fd, size) == 0 ? fd : -1;
}

static int both_ways(void)
{
	int fd = make_file(3 * PAGE + 100), again;
	char *map = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *second,
	     buffer[16];

	CHECK(fd >= 0 && map != MAP_FAILED);
	strcpy(map, "from memory");
	CHECK(pread(fd, buffer, 12, 0) == 12 && strcmp(buffer, "from memory") == 0);
	CHECK(pwrite(fd, "from the file", 14, PAGE) == 14 &&
	      strcmp(map + PAGE, "from the file") == 0);
	/* A second mapping, by another descriptor and at another offset. */
	again = open(path, O_RDWR);
	second = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, again, PAGE);
	CHECK(second != MAP_FAILED && strcmp(second, "from the file") == 0);
	CHECK(close(again) == 0);
	strcpy(second, "second");
	CHECK(strcmp(map + PAGE, "second") == 0);
	CHECK(munmap(second, PAGE) == 0 && strcmp(map + PAGE, "second") == 0);
	/* Linux reads and writes it for a call, and the kernel of the LWK does. */
	CHECK(pread(fd, map + 2 * PAGE, 12, 0) == 12 && strcmp(map + 2 * PAGE, "from memory") == 0);
	CHECK(pwrite(fd, map + PAGE, 7, 2 * PAGE) == 7 && strcmp(map + 2 * PAGE, "second") == 0);
	CHECK(clock_gettime(CLOCK_MONOTONIC, (struct timespec *)(map + 64)) == 0);
	CHECK(((struct timespec *)(map + 64))->tv_sec > 0);
	CHECK(pread(fd, map + 3 * PAGE + 90, 16, 0) == 16); /* behind the end, in the last page */
	CHECK(ftruncate(fd, 2 * PAGE) == 0 && ftruncate(fd, 3 * PAGE) == 0);
	CHECK(unlink(path) == 0 && close(fd) == 0);
	map[1] = 'R';
	CHECK(strcmp(map, "fRom memory") == 0);
	CHECK(munmap(map, 4 * PAGE) == 0);
	CHECK(touch(map, false) == SIGSEGV);
	return 0;
}

static int beyond_the_end(void)
{
	int fd = make_file(PAGE + 100), null = open("/dev/null", O_WRONLY);
	char *map = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(fd >= 0 && map != MAP_FAILED);
	CHECK(touch(map + 2 * PAGE, false) == SIGBUS && touch(map + 7 * PAGE, true) == SIGBUS);
	CHECK(touch(map + PAGE + 200, true) == 0);
	CHECK(pread(fd, map + 3 * PAGE, 1, 0) < 0 && errno == EFAULT);
	CHECK(pwrite(fd, map + 3 * PAGE, 1, 0) < 0 && errno == EFAULT);
	/* The file may grow, and untouched pages at its end may go. */
	CHECK(ftruncate(fd, 6 * PAGE) == 0 && touch(map + 4 * PAGE, true) == 0);
	CHECK(ftruncate(fd, 5 * PAGE) == 0 && touch(map + 5 * PAGE, true) == SIGBUS);
	CHECK(munmap(map, 8 * PAGE) == 0);
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 1UL << 40);
	CHECK(map != MAP_FAILED && touch(map, false) == SIGBUS && munmap(map, PAGE) == 0);
	CHECK(close(fd) == 0 && close(null) == 0);
	return 0;
}

static int bad_requests(void)
{
	int fd = make_file(PAGE), reads = open(path, O_RDONLY), writes = open(path, O_WRONLY),
	    ends[2];
	char *map;

	CHECK(fd >= 0 && reads >= 0 && writes >= 0 && pipe(ends) == 0);
	CHECK(mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 100) == MAP_FAILED && errno == EINVAL);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, -1, 0) == MAP_FAILED && errno == EBADF);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, reads, 0) == MAP_FAILED &&
	      errno == EACCES);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, writes, 0) == MAP_FAILED && errno == EACCES);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ends[0], 0) == MAP_FAILED);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, reads, 0);
	CHECK(map != MAP_FAILED && touch(map, false) == 0 && touch(map, true) == SIGSEGV);
	CHECK(mprotect(map, PAGE, PROT_READ | PROT_WRITE) < 0 && errno == EACCES);
	CHECK(touch(map, true) == SIGSEGV && touch(map, false) == 0);
	CHECK(pwrite(fd, "seen", 5, 0) == 5 && strcmp(map, "seen") == 0);
	CHECK(munmap(map, PAGE) == 0);
	CHECK(close(fd) == 0 && close(reads) == 0 && close(writes) == 0);
	CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
	return 0;
}

static int protections(void)
{
	int fd = make_file(4 * PAGE);
	char *map = mmap(NULL, 4 * PAGE, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(fd >= 0 && map != MAP_FAILED && touch(map + PAGE, false) == 0);
	CHECK(mprotect(map, 2 * PAGE, PROT_READ | PROT_WRITE) == 0);
	CHECK(touch(map + PAGE, true) == 0 && touch(map + 2 * PAGE, true) == SIGSEGV);
	CHECK(mprotect(map, 4 * PAGE, PROT_NONE) == 0 && touch(map + PAGE, false) == SIGSEGV);
	CHECK(mprotect(map, 4 * PAGE, PROT_READ | PROT_WRITE) == 0 && map[PAGE] == 'w');
	CHECK(touch(map + 3 * PAGE, true) == 0);
	CHECK(madvise(map, 4 * PAGE, MADV_DONTNEED) == 0 && map[3 * PAGE] == 'w');
	CHECK(msync(map, 4 * PAGE, MS_SYNC) == 0 && msync(map + PAGE, PAGE, MS_SYNC) == 0);
	/* A hole, and private memory in it. */
	CHECK(munmap(map + PAGE, PAGE) == 0 && touch(map + PAGE, false) == SIGSEGV);
	CHECK(map[3 * PAGE] == 'w');
	CHECK(mmap(map + PAGE, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == map + PAGE);
	CHECK(map[PAGE] == 0 && touch(map + PAGE, true) == 0);
	CHECK(pread(fd, map + PAGE, 1, PAGE) == 1 && map[PAGE] == 'w');
	/* Shared again, over both. */
	map[PAGE] = 'p';
	CHECK(mmap(map, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 2 * PAGE) ==
	      map);
	CHECK(map[PAGE] == 'w' && map[0] == 0);
	/* PROT_WRITE lets a program read, too. */
	CHECK(mmap(map, 2 * PAGE, PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 2 * PAGE) == map);
	CHECK(touch(map + PAGE, false) == 0 && map[PAGE] == 'w' && touch(map, true) == 0);
	CHECK(mprotect(map, PAGE, PROT_READ) == 0 && mprotect(map, PAGE, PROT_WRITE) == 0);
	CHECK(touch(map, false) == 0 && touch(map, true) == 0);
	CHECK(munmap(map, 4 * PAGE) == 0 && close(fd) == 0 && unlink(path) == 0);
	return 0;
}

static int without_a_name(void)
{
	int fd = memfd_create("shared", 0);
	size_t size = 300 * PAGE;
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	     *other;

	CHECK(map != MAP_FAILED && fd >= 0 && ftruncate(fd, size) == 0);
	other = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	CHECK(other != MAP_FAILED);
	for (size_t at = 0; at < size; at += PAGE) {
		CHECK(map[at] == 0);
		map[at] = at / PAGE;
	}
	CHECK(write(fd, map, size) == (ssize_t)size && memcmp(map, other, size) == 0);
	CHECK(munmap(map, size) == 0 && munmap(other, size) == 0 && close(fd) == 0);
	return 0;
}

static int segments(void)
{
	int id = shmget(IPC_PRIVATE, 3 * PAGE - 1, IPC_CREAT | 0600);
	char *map = shmat(id, NULL, 0), *other = shmat(id, NULL, SHM_RDONLY), *third;
	struct shmid_ds segment;

	CHECK(id >= 0 && map != (char *)-1 && other != (char *)-1);
	strcpy(map + 2 * PAGE, "by number");
	CHECK(strcmp(other + 2 * PAGE, "by number") == 0 && touch(other, true) == SIGSEGV);
	CHECK(shmctl(id, IPC_STAT, &segment) == 0 && segment.shm_nattch == 2);
	CHECK(shmat(id, map, 0) == (char *)-1 && errno == EINVAL);
	CHECK(shmat(id, map + 1, 0) == (char *)-1 && errno == EINVAL);
	CHECK(shmat(-1, NULL, 0) == (char *)-1 && errno == EINVAL);
	CHECK(shmdt(map + PAGE) < 0 && errno == EINVAL);
	CHECK(shmdt(other) == 0 && touch(other, false) == SIGSEGV && shmdt(other) < 0);
	CHECK(mprotect(map, PAGE, PROT_READ) == 0 && touch(map, true) == SIGSEGV);
	third = mmap(NULL, 3 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(third != MAP_FAILED && shmat(id, third + 7, SHM_RND | SHM_REMAP) == third);
	CHECK(strcmp(third + 2 * PAGE, "by number") == 0);
	CHECK(shmctl(id, IPC_RMID, NULL) == 0 && shmdt(map) == 0 && touch(third, true) == 0);
	CHECK(munmap(third, 3 * PAGE) == 0);
	CHECK(shmctl(id, IPC_STAT, &segment) < 0 && errno == EINVAL);
	return 0;
}

/* Children share the shared mappings of their parent and have copies of all others. */
static int with_a_child(void)
{
	int id = shmget(IPC_PRIVATE, PAGE, IPC_CREAT | 0600), status, private = 1;
	char *map = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *segment = shmat(id, NULL, 0);
	pid_t child;

	CHECK(map != MAP_FAILED && segment != (char *)-1 && shmctl(id, IPC_RMID, NULL) == 0);
	strcpy(map, "before");
	child = fork();
	if (child == 0) {
		private = strcmp(map, "before") == 0 ? 2 : 3;
		strcpy(map, "child");
		strcpy(map + 2 * PAGE, "new page");
		strcpy(segment, "segment");
		_exit(private == 2 && shmdt(segment) == 0 && munmap(map, PAGE) == 0 ? 7 : 1);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 7 << 8);
	CHECK(strcmp(map, "child") == 0 && strcmp(map + 2 * PAGE, "new page") == 0 && private == 1);
	CHECK(strcmp(segment, "segment") == 0 && shmdt(segment) == 0);
	child = vfork();
	if (child == 0) {
		strcpy(map + PAGE, "lent");
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	CHECK(strcmp(map + PAGE, "lent") == 0 && munmap(map, 3 * PAGE) == 0);
	return 0;
}

static int calls(const char *directory)
{
	struct sigaction action = { .sa_handler = on_fault };

	snprintf(path, sizeof(path), "%s/shared-memory.%d", directory, getpid());
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (int round = 0; round < 10; round++)
		if (both_ways() || beyond_the_end() || bad_requests() || protections() ||
		    without_a_name() || segments() || with_a_child())
			return 1;
	puts("all of it is right");
	return 0;
}

/* ---- files on a disk ---- */

#define PAGES 64UL

static long blocks(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? -1 : (long)st.st_blocks;
}

/* Reading allocates nothing, and so dirties nothing; truncating takes pages away. */
static int holes(void)
{
	int fd = make_file(PAGES * PAGE);
	char *map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
	     other[PAGE];

	CHECK(fd >= 0 && map != MAP_FAILED);
	for (size_t at = 0; at < PAGES * PAGE; at += PAGE)
		CHECK(map[at] == 0);
	CHECK(fsync(fd) == 0 && blocks(fd) == 0);
	memset(map, 'x', 3 * PAGE);
	CHECK(fsync(fd) == 0 && blocks(fd) == 24);
	CHECK(pread(fd, other, PAGE, 2 * PAGE) == PAGE && memcmp(other, map, PAGE) == 0);
	CHECK(ftruncate(fd, PAGE) == 0);
	CHECK(touch(map, true) == 0 && touch(map + PAGE, false) == SIGBUS);
	CHECK(touch(map + 2 * PAGE, true) == SIGBUS);
	CHECK(ftruncate(fd, 4 * PAGE) == 0 && map[PAGE] == 0 && map[2 * PAGE] == 0);
	CHECK(touch(map + 2 * PAGE, true) == 0 && map[0] == 'w');
	CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE) == 0);
	CHECK(map[0] == 0 && map[2 * PAGE] == 'w');
	CHECK(munmap(map, PAGES * PAGE) == 0 && close(fd) == 0 && unlink(path) == 0);
	return 0;
}

static atomic_uint syncs;
static atomic_bool written;

static void *sync_again_and_again(void *file)
{
	void *failed = NULL;

	for (; !atomic_load(&written); atomic_fetch_add(&syncs, 1))
		if (fsync(*(int *)file))
			failed = file;
	return failed;
}

/* Nothing is lost that is written while Linux writes the file to the disk. */
static int while_syncing(void)
{
	int fd = make_file(PAGES * PAGE);
	unsigned *map = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	size_t step = PAGE / sizeof(*map);
	unsigned last = 0, found[PAGES];
	pthread_t thread;
	void *failed;

	CHECK(fd >= 0 && map != MAP_FAILED);
	CHECK(pthread_create(&thread, NULL, sync_again_and_again, &fd) == 0);
	for (; last < 20 || atomic_load(&syncs) < 20; last++)
		for (size_t page = 0; page < PAGES; page++) {
			CHECK(map[page * step] == last);
			map[page * step] = last + 1;
		}
	atomic_store(&written, true);
	CHECK(pthread_join(thread, &failed) == 0 && !failed);
	CHECK(msync(map, PAGES * PAGE, MS_SYNC) == 0 && munmap(map, PAGES * PAGE) == 0);
	/* Linux drops clean pages here, so that they come from the disk again. */
	CHECK(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
	for (size_t page = 0; page < PAGES; page++) {
		CHECK(pread(fd, &found[page], sizeof(last), page * PAGE) == sizeof(last));
		CHECK(found[page] == last);
	}
	CHECK(close(fd) == 0 && unlink(path) == 0);
	return 0;
}

static int disk(const char *directory)
{
	struct sigaction action = { .sa_handler = on_fault };

	snprintf(path, sizeof(path), "%s/shared-memory.%d", directory, getpid());
	sigaction(SIGBUS, &action, NULL);
	if (holes() || while_syncing())
		return 1;
	puts("the disk has it all");
	return 0;
}

/* ---- several processes ---- */

struct common {
	atomic_uint ready, arrived;
	pthread_barrier_t barrier;
	pthread_mutex_t mutex;
	pthread_cond_t turned;
	unsigned turn;
	unsigned long locked;
	atomic_ulong atomic;
	char said[64][32];
};

static int common_init(struct common *common, unsigned n)
{
	pthread_mutexattr_t mutex;
	pthread_condattr_t cond;
	pthread_barrierattr_t barrier;

	pthread_mutexattr_init(&mutex);
	pthread_condattr_init(&cond);
	pthread_barrierattr_init(&barrier);
	CHECK(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) == 0);
	CHECK(pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED) == 0);
	CHECK(pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED) == 0);
	CHECK(pthread_mutex_init(&common->mutex, &mutex) == 0);
	CHECK(pthread_cond_init(&common->turned, &cond) == 0);
	CHECK(pthread_barrier_init(&common->barrier, &barrier, n) == 0);
	atomic_store(&common->ready, 1);
	return 0;
}

static struct common *common_open(const char *file, unsigned n)
{
	int fd = open(file, O_RDWR | O_CREAT | O_EXCL, 0600);
	bool first = fd >= 0;
	struct common *common;
	struct stat st = { 0 };

	if (first)
		ftruncate(fd, sizeof(*common));
	else
		fd = open(file, O_RDWR);
	while (fstat(fd, &st) == 0 && st.st_size < (off_t)sizeof(*common))
		usleep(1000);
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (common == MAP_FAILED || (first && common_init(common, n)))
		return NULL;
	while (!atomic_load(&common->ready))
		usleep(1000);
	return common;
}

static int in_turns(struct common *common, unsigned self, unsigned n)
{
	for (unsigned round = 0; round < 50; round++) {
		CHECK(pthread_mutex_lock(&common->mutex) == 0);
		while (common->turn % n != self)
			CHECK(pthread_cond_wait(&common->turned, &common->mutex) == 0);
		common->turn++;
		CHECK(pthread_cond_broadcast(&common->turned) == 0);
		CHECK(pthread_mutex_unlock(&common->mutex) == 0);
	}
	return 0;
}

static int with(const char *file, unsigned n)
{
	struct common *common = common_open(file, n);
	unsigned self;

	CHECK(common && n <= 64);
	self = atomic_fetch_add(&common->arrived, 1);
	snprintf(common->said[self], sizeof(common->said[self]), "I am %u", self);
	pthread_barrier_wait(&common->barrier);
	for (unsigned i = 0; i < n; i++) {
		char wanted[32];

		snprintf(wanted, sizeof(wanted), "I am %u", i);
		CHECK(strcmp(common->said[i], wanted) == 0);
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		atomic_fetch_add(&common->atomic, 1);
		CHECK(pthread_mutex_lock(&common->mutex) == 0);
		common->locked++;
		CHECK(pthread_mutex_unlock(&common->mutex) == 0);
	}
	CHECK(in_turns(common, self, n) == 0);
	for (unsigned i = 0; i < 20; i++)
		pthread_barrier_wait(&common->barrier);
	CHECK(common->locked == n * ROUNDS && atomic_load(&common->atomic) == n * ROUNDS);
	CHECK(common->turn == n * 50);
	printf("all %u agree\n", n);
	return 0;
}

static int hold(const char *file, size_t size)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);
	char *map;

	CHECK(fd >= 0 && ftruncate(fd, size) == 0);
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	memset(map, 'h', size);
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}

/*
 * Children share the memory that is mapped shared, with holes in the midst of it and whether or not
 * it was touched before; private memory they have for themselves.
 */
static int child_of(unsigned i, atomic_uint *early, atomic_uint *late, volatile int *own,
		    size_t pages)
{
	CHECK(atomic_fetch_add(early, 1) >= 1);
	for (size_t page = 0; page < pages; page++)
		atomic_fetch_add(late + page * PAGE / sizeof(*late), 1);
	CHECK(*own == 1);
	*own = 2 + i;
	CHECK(munmap(late + PAGE / sizeof(*late), PAGE) == 0);
	CHECK(touch((char *)late + PAGE, false) == SIGSEGV);
	return 0;
}

static int forks(const char *file, unsigned n)
{
	const size_t pages = 8;
	int fd = open(file, O_RDWR | O_CREAT, 0600);
	static volatile int own = 1;
	atomic_uint *early, *late;
	int status;

	CHECK(fd >= 0 && ftruncate(fd, pages * PAGE) == 0);
	early = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	late = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(early != MAP_FAILED && late != MAP_FAILED);
	CHECK(munmap((char *)late + 3 * PAGE, PAGE) == 0);
	CHECK(mmap((char *)late + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	atomic_store(early, 1);
	signal(SIGSEGV, on_fault);
	for (unsigned i = 0; i < n; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (child == 0)
			_exit(child_of(i, early, late, &own, pages));
	}
	for (unsigned i = 0; i < n; i++)
		CHECK(wait(&status) > 0 && status == 0);
	CHECK(own == 1 && atomic_load(early) == n + 1);
	for (size_t page = 0; page < pages; page++)
		CHECK(atomic_load(late + page * PAGE / sizeof(*late)) == (page == 3 ? 0 : n));
	printf("%u children share it\n", n);
	fflush(stdout);
	/* Pages that are pinned for this program are unpinned with it. */
	execl("/bin/grep", "grep", "-c", "root:x:0:0", "/etc/passwd", (char *)NULL);
	CHECK(false);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "calls") == 0)
		return calls(argv[2]);
	if (argc == 4 && strcmp(argv[1], "with") == 0)
		return with(argv[2], strtoul(argv[3], NULL, 0));
	if (argc == 4 && strcmp(argv[1], "hold") == 0)
		return hold(argv[2], strtoul(argv[3], NULL, 0));
	if (argc == 4 && strcmp(argv[1], "fork") == 0)
		return forks(argv[2], strtoul(argv[3], NULL, 0));
	if (argc == 3 && strcmp(argv[1], "disk") == 0)
		return disk(argv[2]);
	fprintf(stderr,
		"Usage: shared-memory calls DIRECTORY | disk DIRECTORY | with FILE N | hold FILE BYTES | fork FILE N\n");
	return 2;
}
