/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz-grants SEED SECONDS DEVICE: proxies that load a program of their own into the LWK. It maps files of
 * all kinds shared, and two threads of it touch their pages, which lwkpart.ko grants. Meanwhile other
 * threads of the proxy cut the files short, change, move and remove its mappings, and ask for grants
 * at any time; and the proxy does not always do what its LWK asks of it. Prints how many pages of
 * each kind of file the programs have touched.
 *
 * fuzz-grants again DEVICE: a proxy starts another program, and its LWK process then touches a new
 * page of a file on a disk. Prints what becomes of that.
 *
 * Files on a disk are made in the current directory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"
#include "check.h"
#include "ring.h"
#include "fuzz.h"

#define PAGE 4096UL
#define PROXIES 2
#define MEDDLERS 2
/* Seconds without a packet after which a program is given up. */
#define PATIENCE 3

enum kind { MEMFD, TMPFS, DISK, READ_ONLY, ANONYMOUS, KINDS };
static const char *const names[KINDS] = { "memfd", "tmpfs", "disk", "read-only", "anonymous" };

/* The program's parts of the process's memory. */
#define CODE 0x100000000UL
#define CODE_PAGES 16UL
#define STACKS (CODE + 0x1000000)
#define STACK_PAGES 16UL
#define BOX ((struct box *)(CODE + 0x2000000))
#define AREAS (CODE + 0x10000000)
#define AREA(kind) (AREAS + (kind) * 0x1000000UL)
#define AREA_PAGES 128UL
#define END (AREAS + 0x10000000)

/* The proxy tells the program its task, and the program what became of it. */
struct box {
	uint64_t seed;
	uint64_t rounds;
	int32_t files[KINDS];
	int32_t again; /* fuzz-grants again */
	uint64_t touched[KINDS];
	uint64_t refused;
};

/*
 * ---- the program on the LWK: code that is copied to other addresses, so it has no calls to functions
 * outside, no data and no tables of addresses ----
 */

#define PROGRAM __attribute__((section("lwk_program"), noinline, used))
#define INLINE static inline __attribute__((always_inline))

extern const char __start_lwk_program[], __stop_lwk_program[], lwk_start[];
void lwk_work(struct box *box, uint64_t state);
void lwk_main(void);
/* Returns 0 when the page gave a signal. */
int lwk_touch(uint64_t at, int write);
int lwk_clone(uint64_t flags, uint64_t stack, struct box *box, uint64_t state);

__asm__(".section lwk_program,\"ax\"\n"
	".globl lwk_start, lwk_touch, lwk_clone\n"
	"lwk_start:\n\t"
	"call lwk_main\n\t"
	"ud2\n"
	"lwk_touch:\n\t"
	"testl %esi, %esi\n\t"
	"jnz 1f\n\t"
	"movb (%rdi), %al\n\t"
	"jmp 2f\n"
	"1:	movb %sil, (%rdi)\n"
	"2:	movl $1, %eax\n\t"
	"ret\n"
	"lwk_not_touched:\n\t"
	"xorl %eax, %eax\n\t"
	"ret\n"
	/* The third argument is a ucontext_t; its 'rip' is what the signal's return goes to. */
	"lwk_handler:\n\t"
	"leaq lwk_not_touched(%rip), %rax\n\t"
	"movq %rax, 168(%rdx)\n\t"
	"ret\n"
	"lwk_restorer:\n\t"
	"movl $15, %eax\n\t"
	"syscall\n"
	"lwk_clone:\n\t"
	"pushq %r12\n\t"
	"pushq %r13\n\t"
	"movq %rdx, %r12\n\t"
	"movq %rcx, %r13\n\t"
	"movl $56, %eax\n\t"
	"xorl %edx, %edx\n\t"
	"xorl %r10d, %r10d\n\t"
	"xorl %r8d, %r8d\n\t"
	"syscall\n\t"
	"testq %rax, %rax\n\t"
	"jz 1f\n\t"
	"popq %r13\n\t"
	"popq %r12\n\t"
	"ret\n"
	"1:	movq %r12, %rdi\n\t"
	"movq %r13, %rsi\n\t"
	"call lwk_work\n\t"
	"movl $60, %eax\n\t"
	"xorl %edi, %edi\n\t"
	"syscall\n\t"
	"ud2\n\t"
	".previous");

INLINE long lwk_call(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
		     uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

INLINE uint64_t lwk_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dUL;
}

INLINE void lwk_map(struct box *box, uint64_t kind, int prot)
{
	lwk_call(SYS_mmap, AREA(kind), AREA_PAGES * PAGE, prot,
		 MAP_FIXED | MAP_SHARED | (kind == ANONYMOUS ? MAP_ANONYMOUS : 0), box->files[kind],
		 0);
}

INLINE void lwk_touch_for(struct box *box, uint64_t kind, uint64_t page, int write)
{
	int done = lwk_touch(AREA(kind) + page * PAGE, write);

	__atomic_add_fetch(&box->touched[kind], done, __ATOMIC_RELAXED);
	__atomic_add_fetch(&box->refused, !done, __ATOMIC_RELAXED);
}

PROGRAM void lwk_work(struct box *box, uint64_t state)
{
	while (__atomic_fetch_sub(&box->rounds, 1, __ATOMIC_RELAXED) < 1UL << 62) {
		uint64_t r = lwk_random(&state), what = r >> 58, kind = (r >> 8) % KINDS;
		uint64_t page = (r >> 16) % AREA_PAGES, n = 1 + (r >> 32) % (AREA_PAGES - page);
		uint64_t at = AREA(kind) + page * PAGE;

		if (what < 46)
			lwk_touch_for(box, kind, page, r & 1);
		else if (what < 50) /* a run of pages, of which more come at once */
			for (uint64_t i = 0; i < n && i < 40; i++)
				lwk_touch_for(box, kind, page + i, 1);
		else if (what == 50)
			lwk_call(SYS_munmap, at, n * PAGE, 0, 0, 0, 0);
		else if (what < 54)
			lwk_map(box, kind, kind == READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE);
		else if (what < 56)
			lwk_call(SYS_mprotect, at, n * PAGE, r & (PROT_READ | PROT_WRITE), 0, 0, 0);
		else if (what == 56)
			lwk_call(SYS_msync, at, n * PAGE, MS_SYNC, 0, 0, 0);
		else if (what == 57)
			lwk_call(SYS_madvise, at, n * PAGE, MADV_DONTNEED, 0, 0, 0);
		else if (what < 60)
			lwk_call(SYS_pread64, box->files[MEMFD], at + PAGE - 50, 100, 0, 0, 0);
		else if (what < 62)
			lwk_call(SYS_pwrite64, box->files[DISK], at + PAGE - 50, 100, page * PAGE,
				 0, 0);
		else
			lwk_call(SYS_mremap, at, n * PAGE, n * PAGE / 2 + PAGE, 0, 0, 0);
	}
}

/* Touches two pages of a file on a disk, and tells the proxy after each. */
INLINE void lwk_touch_again(void)
{
	for (uint64_t page = 0; page < 2; page++)
		lwk_call(SYS_fsync, 1000 + lwk_touch(AREA(DISK) + page * PAGE, 1), 0, 0, 0, 0, 0);
}

PROGRAM void lwk_main(void)
{
	struct {
		uint64_t handler, flags, restorer, mask;
	} action = { .flags = SA_SIGINFO | SA_NODEFER | 0x04000000 /* SA_RESTORER */ };
	struct box *box = BOX;

	__asm__("leaq lwk_handler(%%rip), %0" : "=r"(action.handler));
	__asm__("leaq lwk_restorer(%%rip), %0" : "=r"(action.restorer));
	lwk_call(SYS_rt_sigaction, SIGSEGV, (uint64_t)&action, 0, 8, 0, 0);
	lwk_call(SYS_rt_sigaction, SIGBUS, (uint64_t)&action, 0, 8, 0, 0);
	for (uint64_t kind = 0; kind < KINDS; kind++)
		lwk_map(box, kind, kind == READ_ONLY ? PROT_READ : PROT_READ | PROT_WRITE);
	if (box->again) {
		lwk_touch_again();
	} else {
		lwk_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				  CLONE_SYSVSEM,
			  STACKS + STACK_PAGES * PAGE / 2, box, box->seed * 3);
		lwk_work(box, box->seed);
	}
	lwk_call(SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

/* ---- the proxy ---- */

static uint64_t seed;
static time_t end;
static const char *path;
static int device, program, noise[2];
static struct box task; /* as the program finds it */
static bool ended;

/* Shared by all processes. */
static struct totals {
	uint64_t programs, touched[KINDS], refused;
} *totals;

static __thread struct lwk_channel *channel;
static __thread time_t last_packet;

static bool is_over(void)
{
	return __atomic_load_n(&ended, __ATOMIC_RELAXED) || time(NULL) >= end ||
	       time(NULL) > last_packet + PATIENCE;
}

static void send(const struct lwk_packet *packet)
{
	ring_write(&channel->to_lwk, packet);
	ioctl(device, LWK_DOORBELL);
}

static void reply(uint32_t id, int64_t result)
{
	send(&(struct lwk_packet){ .kind = LWK_PACKET_REPLY, .id = id, .args = { result } });
}

/* Waits for a packet. False: there is none any more. */
static bool receive(struct lwk_packet *packet)
{
	struct lwk_ring *ring = &channel->to_linux;

	while (!ring_read(ring, packet)) {
		struct lwk_serve serve = { .flags = fuzz_below(4), .keep_from = program };

		if ((ioctl(device, LWK_SERVE, &serve) && errno != EINTR) || is_over())
			return false;
		if (serve.has_reply)
			reply(serve.id, serve.result);
	}
	last_packet = time(NULL);
	return true;
}

static void *map_window(uint64_t start, uint64_t size)
{
	return mmap((void *)start, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device,
		    LWK_MMAP_WINDOW + start - LWK_USER_START);
}

static bool is_in_areas(uint64_t start, uint64_t size)
{
	return start >= AREAS && start < END && size <= END - start;
}

/* Maps what the program wants, or now and then something else. */
static int64_t share(const uint64_t *args)
{
	int flags = MAP_SHARED | MAP_FIXED | (args[3] & MAP_ANONYMOUS), prot = args[2];
	int fd = args[4];

	if (!is_in_areas(args[0], args[1]))
		return -EINVAL;
	switch (task.again ? 0 : fuzz_below(32)) {
	case 1:
		return 0;
	case 2:
		flags ^= MAP_SHARED ^ MAP_PRIVATE;
		break;
	case 3:
		prot = fuzz_below(8);
		break;
	case 4:
		fd = task.files[fuzz_below(ANONYMOUS)];
		break;
	}
	return mmap((void *)args[0], args[1], prot, flags, fd, args[5]) == MAP_FAILED ? -errno : 0;
}

static int64_t grant(void)
{
	if (!task.again && fuzz_below(32) == 0)
		return 0;
	return ioctl(device, LWK_GRANT) ? -errno : 0;
}

static int64_t end_sharing(const uint64_t *args)
{
	grant();
	if (!is_in_areas(args[0], args[1]))
		return -EINVAL;
	if (fuzz_below(16))
		map_window(args[0], args[1]);
	return 0;
}

static int64_t protect(const uint64_t *args)
{
	grant();
	if (!is_in_areas(args[0], args[1]))
		return -EINVAL;
	return fuzz_below(16) && mprotect((void *)args[0], args[1], args[2]) ? -errno : 0;
}

static int64_t unmap(const uint64_t *args)
{
	struct lwk_unmap range = { args[0], args[1] };

	return ioctl(device, LWK_UNMAP, &range) ? -errno : 0;
}

static int64_t add_thread(void);
static int64_t start_again(const struct lwk_packet *packet);

static int64_t handle(const struct lwk_packet *packet)
{
	const uint64_t *args = (const uint64_t *)packet->args;
	int64_t result;

	switch (packet->nr) {
	case LWK_CALL_SHARE:
		return share(args);
	case LWK_CALL_GRANT:
		return grant();
	case LWK_CALL_UNSHARE:
		return end_sharing(args);
	case LWK_CALL_RESHARE:
		return protect(args);
	case LWK_CALL_UNMAP:
		return unmap(args);
	case LWK_CALL_THREAD:
		return add_thread();
	case SYS_fsync:
		return start_again(packet);
	case SYS_msync:
	case SYS_pread64:
	case SYS_pwrite64:
		result = syscall(packet->nr, args[0], args[1], args[2], args[3]);
		return result < 0 ? -errno : result;
	default:
		return -ENOSYS;
	}
}

/* Serves the calling thread's channel until its program has ended. */
static void serve(void)
{
	struct lwk_packet packet;

	while (receive(&packet)) {
		if (packet.kind == LWK_PACKET_REQUEST)
			reply(packet.id, handle(&packet));
		else if (packet.nr == LWK_CALL_EXIT)
			break;
	}
	__atomic_store_n(&ended, true, __ATOMIC_RELAXED);
}

/* Returns the LWK's reply to a request; 1 without a reply. */
static int64_t ask(uint64_t nr, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	struct lwk_packet packet = {
		.kind = LWK_PACKET_REQUEST, .id = 5, .nr = nr, .args = { arg0, arg1, arg2 }
	};

	send(&packet);
	while (receive(&packet))
		if (packet.kind == LWK_PACKET_REPLY && packet.id == 5)
			return packet.args[0];
	return 1;
}

static int map_channel(void)
{
	channel = mmap(NULL, sizeof(*channel), PROT_READ | PROT_WRITE, MAP_SHARED, device,
		       LWK_MMAP_CHANNEL);
	return channel == MAP_FAILED ? -1 : 0;
}

static pthread_barrier_t thread_added;
static int64_t thread_result;

static void *serve_thread(void *unused)
{
	struct lwk_thread_create create = { 0 };

	(void)unused;
	fuzz_seed(seed + 100);
	last_packet = time(NULL);
	thread_result = ioctl(device, LWK_THREAD_CREATE, &create) || map_channel() ? -EAGAIN : 0;
	pthread_barrier_wait(&thread_added);
	if (!thread_result)
		serve();
	return NULL;
}

static int64_t add_thread(void)
{
	pthread_t thread;

	pthread_barrier_init(&thread_added, NULL, 2);
	if (pthread_create(&thread, NULL, serve_thread, NULL))
		return -EAGAIN;
	pthread_barrier_wait(&thread_added);
	pthread_detach(thread);
	return thread_result;
}

/* ---- files, and what is done to them meanwhile ---- */

static int make_file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	return fd < 0 || ftruncate(fd, AREA_PAGES * PAGE) ? -1 : fd;
}

static int make_files(void)
{
	static char name[64];

	CHECK((task.files[MEMFD] = memfd_create("grants", MFD_ALLOW_SEALING)) >= 0);
	CHECK(ftruncate(task.files[MEMFD], AREA_PAGES * PAGE) == 0);
	snprintf(name, sizeof(name), "/dev/shm/fuzz-grants.%d", getpid());
	CHECK((task.files[TMPFS] = make_file(name)) >= 0);
	CHECK(unlink(name) == 0);
	snprintf(name, sizeof(name), "fuzz-grants.%d", getpid());
	CHECK((task.files[DISK] = make_file(name)) >= 0);
	CHECK((task.files[READ_ONLY] = open(name, O_RDONLY)) >= 0);
	CHECK(unlink(name) == 0);
	task.files[ANONYMOUS] = -1;
	return 0;
}

static void meddle_with_file(int fd)
{
	off_t page = fuzz_below(AREA_PAGES) * PAGE;

	switch (fuzz_below(8)) {
	case 0:
		ftruncate(fd, page + fuzz_below(PAGE));
		break;
	case 1 ... 2:
		ftruncate(fd, AREA_PAGES * PAGE);
		break;
	case 3:
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, page,
			  1 + fuzz_below(20 * PAGE));
		break;
	case 4:
		sync_file_range(fd, page, 20 * PAGE,
				SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
		break;
	case 5:
		pwrite(fd, "meddled", 7, page);
		break;
	case 6:
		posix_fadvise(fd, page, 20 * PAGE, POSIX_FADV_DONTNEED);
		break;
	case 7:
		fcntl(fd, F_ADD_SEALS, fuzz_below(8) ? 0 : F_SEAL_WRITE);
		break;
	}
}

static void meddle_with_mapping(void)
{
	uint64_t kind = fuzz_below(KINDS), page = fuzz_below(AREA_PAGES);
	uint64_t size = (1 + fuzz_below(AREA_PAGES - page)) * PAGE;
	void *at = (void *)(AREA(kind) + page * PAGE);

	switch (fuzz_below(9)) {
	case 0:
		munmap(at, size);
		break;
	case 1:
		mprotect(at, size, fuzz_below(4));
		break;
	case 2:
		mmap(at, size, fuzz_below(4),
		     (fuzz_below(2) ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED,
		     task.files[fuzz_below(ANONYMOUS)], page * PAGE);
		break;
	case 3 ... 5:
		mmap((void *)AREA(kind), AREA_PAGES * PAGE,
		     PROT_READ | (kind == READ_ONLY ? 0 : PROT_WRITE),
		     MAP_SHARED | MAP_FIXED | (kind == ANONYMOUS ? MAP_ANONYMOUS : 0),
		     task.files[kind], 0);
		break;
	case 6:
		madvise(at, size, fuzz_below(26));
		break;
	case 7:
		mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED,
		       AREA(fuzz_below(KINDS)) + page * PAGE);
		break;
	case 8:
		map_window((uint64_t)at, size);
		break;
	}
}

static void *meddle(void *number)
{
	char drain[64];

	fuzz_seed(seed + 10 + (uintptr_t)number);
	last_packet = time(NULL) + PATIENCE;
	while (!is_over()) {
		struct lwk_unmap range = { AREAS + fuzz_below(1024) * PAGE, fuzz_below(64) * PAGE };

		switch (fuzz_below(8)) {
		case 0 ... 2:
			ioctl(device, LWK_GRANT);
			break;
		case 3:
			ioctl(device, LWK_UNMAP, &range);
			break;
		case 4:
			meddle_with_mapping();
			break;
		case 5:
			/* A system call makes an error of a fault. */
			if (write(noise[1], (void *)(AREAS + fuzz_below(END - AREAS)), 50) > 0)
				read(noise[0], drain, sizeof(drain));
			break;
		case 6:
			meddle_with_file(task.files[fuzz_below(ANONYMOUS)]);
			break;
		case 7:
			usleep(fuzz_below(5000));
			break;
		}
	}
	return NULL;
}

/* ---- from the beginning to the end ---- */

static int load(void)
{
	const size_t size = __stop_lwk_program - __start_lwk_program;
	struct lwk_proc_create create = { .pid = getpid(), .flags = LWK_PROC_SHARE };

	last_packet = time(NULL);
	CHECK((device = open(path, O_RDWR)) >= 0);
	CHECK(ioctl(device, LWK_PROC_CREATE, &create) == 0);
	CHECK(map_channel() == 0);
	CHECK(map_window(CODE, END - CODE) == (void *)CODE);
	CHECK(ask(LWK_CALL_MAP, CODE, CODE_PAGES * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
	CHECK(ask(LWK_CALL_MAP, STACKS, STACK_PAGES * PAGE, PROT_READ | PROT_WRITE) == 0);
	CHECK(ask(LWK_CALL_MAP, (uint64_t)BOX, PAGE, PROT_READ | PROT_WRITE) == 0);
	/* System calls copy the program, because the LWK may refuse a page. */
	CHECK((program = memfd_create("program", 0)) >= 0);
	CHECK(write(program, __start_lwk_program, size) == (ssize_t)size);
	CHECK(pwrite(program, &task, sizeof(task), CODE_PAGES * PAGE) == sizeof(task));
	CHECK(pread(program, (void *)CODE, size, 0) == (ssize_t)size);
	CHECK(pread(program, BOX, sizeof(task), CODE_PAGES * PAGE) == sizeof(task));
	CHECK(ask(LWK_CALL_START, CODE + (lwk_start - __start_lwk_program),
		  STACKS + STACK_PAGES * PAGE, 0) == 0);
	return 0;
}

static void count(void)
{
	struct box box;

	if (pwrite(program, BOX, sizeof(box), 0) != sizeof(box) ||
	    pread(program, &box, sizeof(box), 0) != sizeof(box))
		return;
	for (int kind = 0; kind < KINDS; kind++)
		__atomic_add_fetch(&totals->touched[kind], box.touched[kind], __ATOMIC_RELAXED);
	__atomic_add_fetch(&totals->refused, box.refused, __ATOMIC_RELAXED);
	__atomic_add_fetch(&totals->programs, 1, __ATOMIC_RELAXED);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Interrupts waits, so that the end is seen. */
static void tick(void)
{
	const struct itimerval tick = { { 0, 50000 }, { 0, 50000 } };
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &tick, NULL);
}

static void run_program(void)
{
	pthread_t meddlers[MEDDLERS];

	fuzz_seed(seed);
	task.seed = fuzz_random();
	task.rounds = 2000 + fuzz_below(20000);
	tick();
	if (pipe2(noise, O_NONBLOCK) || make_files() || load())
		_exit(1);
	for (uintptr_t i = 0; i < MEDDLERS; i++)
		pthread_create(&meddlers[i], NULL, meddle, (void *)i);
	serve();
	count();
	for (int i = 0; i < MEDDLERS; i++)
		pthread_join(meddlers[i], NULL);
	/* The other half of them ends as a proxy does that is killed. */
	if (fuzz_below(2))
		ioctl(device, LWK_PROC_END);
	_exit(0);
}

static void run_programs(void)
{
	while (time(NULL) < end) {
		pid_t child = fork();

		seed += 1000;
		if (child == 0)
			run_program();
		if (child < 0 || waitpid(child, NULL, 0) != child)
			break;
	}
	_exit(0);
}

/* ---- fuzz-grants again ---- */

/* The program has touched a page: before, or after this process has started again. */
static int64_t start_again(const struct lwk_packet *packet)
{
	char numbers[3][16];

	if (!task.again)
		return -ENOSYS;
	printf("%s: %s\n", task.again == 1 ? "before" : "after",
	       packet->args[0] == 1001 ? "granted" : "refused");
	fflush(stdout);
	if (task.again++ != 1)
		return 0;
	snprintf(numbers[0], sizeof(numbers[0]), "%d", device);
	snprintf(numbers[1], sizeof(numbers[1]), "%d", task.files[DISK]);
	snprintf(numbers[2], sizeof(numbers[2]), "%u", packet->id);
	execl("/proc/self/exe", "fuzz-grants", numbers[0], numbers[1], numbers[2], "go-on", NULL);
	_exit(1);
}

static int again(void)
{
	task.again = 1;
	CHECK(make_files() == 0 && load() == 0);
	serve();
	return 0;
}

/* The second program of 'again', which has the files of the first, and none of its mappings. */
static int go_on(char **numbers)
{
	device = atoi(numbers[0]);
	task.again = 2;
	last_packet = time(NULL);
	CHECK(map_channel() == 0);
	CHECK(map_window(CODE, END - CODE) == (void *)CODE);
	CHECK(mmap((void *)AREA(DISK), AREA_PAGES * PAGE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED, atoi(numbers[1]), 0) == (void *)AREA(DISK));
	reply(atoi(numbers[2]), 0);
	serve();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	end = time(NULL) + 30;
	if (argc == 5 && strcmp(argv[4], "go-on") == 0)
		return go_on(argv + 1);
	path = argv[argc - 1];
	if (strcmp(argv[1], "again") == 0)
		return again();
	if (argc != 4)
		return 2;
	seed = strtoul(argv[1], NULL, 0);
	end = time(NULL) + strtoul(argv[2], NULL, 0);
	totals = mmap(NULL, sizeof(*totals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (totals == MAP_FAILED)
		return 1;
	for (int i = 0; i < PROXIES; i++) {
		seed += 1000000;
		if (fork() == 0)
			run_programs();
	}
	while (wait(NULL) > 0)
		;
	printf("%lu programs; pages touched:", (unsigned long)totals->programs);
	for (int kind = 0; kind < KINDS; kind++)
		printf(" %s %lu", names[kind], (unsigned long)totals->touched[kind]);
	printf("; %lu not\n", (unsigned long)totals->refused);
	return 0;
}
