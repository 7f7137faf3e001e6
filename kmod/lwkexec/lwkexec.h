/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lwkexec starts a program on an LWK instance and is its proxy. One file, one thing:
 *   lwkexec.c  options, and the life of the process from start to end
 *   program.c  finds the program and checks that it can run
 *   load.c     puts it into the LWK process's memory
 *   channel.c  packets to and from the LWK
 *   calls.c    delegated system calls
 *   fork.c     children of ours that stand for those of the LWK process
 *   exec.c     ourselves anew, for another program
 *   share.c    memory that the LWK process shares with others
 *   self.c     /proc/self, as the LWK process sees itself
 *   view.c     /sys/devices/system/cpu and node, likewise
 *   maps.c     what is mapped in it, and from which files
 *   threads.c  one thread of ours for each of the LWK process's
 *   signals.c  signals, passed on
 *   timers.c   which timers send theirs to one thread
 *   syscall.S  a system call that a signal surely interrupts
 *
 * The LWK process's memory is mapped here at the same addresses (WINDOW), so its
 * pointers go to Linux as they are. Nothing here follows such a pointer itself: Linux
 * answers EFAULT for a bad one, and we would crash.
 */
#ifndef LWKEXEC_H
#define LWKEXEC_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "abi/lwkpart.h"
#include "abi/lwkshared.h"

/* Exit statuses of our own, as env(1) and timeout(1) have them. */
#define EXIT_LWK 125	    /* the LWK cannot be used */
#define EXIT_CANNOT_RUN 126 /* the program is there and cannot be run */
#define EXIT_NOT_FOUND 127

/* Says why on standard error and ends us with that status. */
void fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* The LWK process has ended, as LWK_CALL_EXIT says: says why if need be, and ends us alike. */
void program_ended(const struct lwk_packet *notice) __attribute__((noreturn));

/* CPUs or NUMA nodes, as many as a Linux kernel of the distributions can have. */
#define NUMBERS 8192
#define NUMBERS_WORDS (NUMBERS / 32)
struct numbers {
	uint32_t words[NUMBERS_WORDS];
};

static inline void numbers_add(struct numbers *set, size_t number)
{
	if (number < NUMBERS)
		set->words[number / 32] |= 1U << number % 32;
}

static inline bool numbers_have(const struct numbers *set, size_t number)
{
	return number < NUMBERS && set->words[number / 32] & 1U << number % 32;
}

/* ---- program.c ---- */

struct segment {
	uint64_t start, end; /* whole pages of the process's memory */
	uint64_t data;	     /* where the bytes of the file go */
	uint64_t offset, size;
	uint32_t prot;
};

/* A file whose segments go into the process's memory: the program, or its interpreter. */
struct elf_file {
	const char *name; /* for messages */
	int fd;
	struct segment *segments;
	size_t n_segments;
	uint64_t bias; /* already added to all addresses here */
	uint64_t entry;
	uint64_t headers; /* address of its program headers (AT_PHDR) */
	uint16_t n_headers, header_size;
	uint64_t end; /* behind its last segment */
};

struct program {
	const char *name; /* as the user gave it */
	char *exec_path;  /* where it was found */
	char *path;	  /* absolute, of what is loaded: for a script what runs it */
	char **argv;	  /* with what the first line of a script adds */
	struct elf_file elf;
	/* The dynamic linker that the program wants (PT_INTERP); n_segments 0: it is static. */
	struct elf_file interpreter;
};

/* What execvp(3) would run, the caller's to free; or NULL with errno. */
char *program_find(const char *name);
/*
 * Reads the headers of what is to be loaded to run the file 'path', a script perhaps, with 'argv'.
 * 'name' is what messages call it. The strings must stay. 0, or a negative errno as execve(2) has
 * it; then program_fail() says why and ends us. program_close() in any case.
 */
int program_open(struct program *program, const char *name, char *path, char **argv);
void program_fail(void) __attribute__((noreturn));
/* What program_open() took, but not the strings of scripts. */
void program_close(struct program *program);

/* ---- channel.c ---- */

/* The instance and our process on it. */
struct session {
	int device;
	const struct lwk_status *status;
	size_t status_bytes;
	uint32_t index; /* of the LWK CPU of the process's first thread */
	uint32_t cpus;	/* LWK CPUs in all */
};
extern struct session session;

/* The LWK thread that the calling thread of ours stands for. */
struct own {
	struct lwk_channel *channel;
	uint32_t index;	 /* of its LWK CPU */
	uint32_t cpu;	 /* Linux's number of it */
	int child_waits; /* -1, or a pipe that ends when the child of a vfork does without us */
	bool newborn;	 /* this thread was that of a parent, whose request is not ours */
};
extern __thread struct own own;

/* Opens the instance's device and makes an LWK process there; does not return on failure. */
void session_open(const char *device);
/*
 * Ends our process on the LWK; the session is not to be used any more. How many processes are left
 * there; of those that end together just one is the last.
 */
int session_close(void);
/* After that: for what has still to do with it. */
bool session_closed(void);
/*
 * As session_open(), in a program that has just taken the place of one of ours (exec.c): with the
 * open file 'device' of its session. Does not return on failure.
 */
void session_resume(int device, bool proxy_calls);
/* Shall lwkpart.ko leave all calls to us? */
bool session_proxy_calls(void);
/* A name for the device, for as long as it is open. */
void session_path(char *path, size_t size);
/*
 * In a child of ours that has inherited the session: another one, with an LWK process of its own.
 * 0 or a negative errno; then there is none.
 */
int session_renew(void);
/* Those that the LWK's sched_getaffinity(2) tells the process, by Linux's numbers. */
void session_cpus(struct numbers *cpus);
/* Gives the calling thread an LWK CPU of its own. 0 or a negative errno. */
int session_add_thread(void);
/*
 * Makes a descriptor one that we need ourselves: out of the way of the program's, closed on exec,
 * and not for the program to close. Its new number; -1 stays -1, and is also returned with EMFILE.
 */
int channel_keep(int fd);
/* Closes it. */
void channel_drop(int fd);
/* Waits for a packet. Does not return when the instance is gone. */
void channel_receive(struct lwk_packet *packet);
void channel_reply(uint32_t id, int64_t result);
/* Calls that lwkpart.ko has carried out for us. */
uint64_t channel_served(void);
/* Asks the LWK and serves what it asks meanwhile. 0 or more, or a negative errno. */
int64_t channel_call(uint64_t nr, const uint64_t args[6]);
/*
 * Async-signal-safe, with all signals blocked: passes one on. False: there is no room for another one now, and
 * they must stay blocked until the LWK says that there is.
 */
bool channel_signal(const struct lwk_signal *signal);
/* Is it so? */
bool channel_holds_signals(void);
/* The LWK says that there is room; no more is said if there is none. */
void channel_release_signals(void);
/* With all signals blocked, while the LWK waits for us: takes back those that it has not taken. How many. */
size_t channel_take_back(struct lwk_signal signals[LWK_SIGNAL_SLOTS]);
/* Is this one of them? Which one is the next, from 'fd' on? UINT32_MAX: there is none. */
bool channel_owns(int fd);
uint32_t channel_next_owned(uint32_t fd);

/* ---- report.c ---- */

/*
 * Takes what --lwk-report left in the environment; 'device' is the instance's. Or what a program
 * before us had, report_text() and report_file().
 */
void report_init(const char *device);
void report_resume(const char *device, const char *text, int file);
/* NULL: no report is wanted. */
const char *report_text(void);
int report_file(void);
/* When the last program has ended: prints the report, if one is wanted. */
void report_at_end(void);

/* ---- load.c ---- */

/* The end of the program's first stack. */
#define STACK_TOP (LWK_USER_END - (2UL << 20))

/*
 * Loads the program with its arguments and the environment, and starts it, with signals (bit s-1:
 * signal s) that are blocked and ignored.
 */
void load_and_start(const struct program *program, char **envp, uint64_t blocked, uint64_t ignored);

/* ---- threads.c ---- */

/* Makes a thread of ours that stands for a new one on the LWK. 0 or a negative errno. */
int64_t threads_add(void);
/* Serves the calling thread's channel. */
void threads_serve(void) __attribute__((noreturn));

/* ---- fork.c ---- */

/*
 * Makes a child of ours that stands for a copy of the LWK process, which CPU 'cpu' offers by that
 * number. Its pid or a negative errno; 0 in the child, which serves the copy from now on.
 */
int64_t fork_process(uint64_t cpu, uint64_t number, bool vfork);
/* Until the child has another program, or has ended. */
int64_t fork_wait(void);

/* ---- exec.c ---- */

/* LWK_CALL_EXEC: a negative errno, if it returns. */
int64_t exec_program(const uint64_t args[6]);
/* What one that has taken our place is told about us, and what it shall run. */
struct resume {
	char *path;
	char **argv;
	const char *report; /* "": none */
	int device;
	bool proxy_calls;
	bool no_stack_limit;
	uint64_t blocked, ignored; /* signals */
	int report_file;
};
/* Has it taken our place? By its arguments. */
bool exec_resumes(int argc, char **argv, struct resume *resume);

/* ---- calls.c ---- */

void calls_init(void);
/* In a child that shares with its parent what calls_init() made. 0 or a negative errno. */
int calls_renew(void);
/* Copies the LWK process's memory, as Linux would: how many bytes could be, at most 'size'. */
size_t calls_read(void *to, uint64_t address, size_t size);
/* What Linux answers to a call with these arguments, unless a signal waits: -EINTR. */
int64_t calls_raw(const struct lwk_packet *request);
/* What Linux answers to a delegated call: a result or a negative errno. */
int64_t call_execute(const struct lwk_packet *request);

/* ---- share.c ---- */

/* LWK_CALL_SHARE, _SEGMENT, _DETACH, _GRANT, _UNSHARE and _RESHARE. */
int64_t share_begin(const uint64_t args[6]);
/* In a child of ours. */
void share_renew(void);
int64_t share_segment_size(int id);
int64_t share_detach(uint64_t start);
int64_t share_grant(void);
int64_t share_end(uint64_t start, uint64_t size);
int64_t share_protect(uint64_t start, uint64_t size, int prot);

/* ---- self.c ---- */

void self_init(const struct program *program);
uint64_t self_lwk_used(void);
/*
 * True when 'path' is something under /proc/self that the LWK knows better; then
 * *result is what open(2) or readlink(2) shall answer.
 */
bool self_open(const char *path, int flags, int64_t *result);
/* Is that under /proc/self, and not there on the LWK? */
bool self_hides(const char *path);
/* A file with that text, for the process: a descriptor, or a negative errno. */
int64_t self_file(const char *text, size_t length, int flags);
/* The program's own file, if 'path' is /proc/self/exe; or NULL. */
const char *self_exe(const char *path);
bool self_readlink(const char *path, uint64_t buffer, uint64_t size, int64_t *result);

/* ---- view.c ---- */

/* The NUMA nodes that the LWK has memory of; false: it is not known. */
bool view_nodes(struct numbers *nodes);
/* As self_open(), for what is said about memory. */
bool view_open(const char *path, int flags, int64_t *result);
/* Where 'path' is for the LWK process, if it is about CPUs or NUMA nodes and not where it says. */
bool view_path(const char *path, char ours[PATH_MAX]);

/* ---- maps.c ---- */

/* A number for the file that is open there, or 0: it has none. */
uint32_t maps_file(int fd);
/* LWK_CALL_AREA: 0 or a negative errno. */
int64_t maps_add(const uint64_t args[6]);
/* Has the LWK told the calling thread what is mapped? */
bool maps_known(void);
/* As /proc/PID/maps has it; then it is not known any more. */
void maps_print(FILE *out);
/* In a child that shares with its parent what was made here. */
void maps_renew(void);

/* ---- signals.c ---- */

/* Who runs us has these ignored, as far as Linux knows it not; returns all that are ignored. */
uint64_t signals_init(uint64_t ignored);
/* Those that the LWK process ignores: bit s-1. */
uint64_t signals_ignored(void);
/* The LWK process changed its action, as LWK_CALL_SIGNAL_ACTION says. */
void signals_action(int signal, int action);
/* LWK_CALL_SIGNAL: 0 or a negative errno. */
int64_t signals_send(const uint64_t args[6]);
/* With all signals blocked: what the LWK has not taken yet stays with Linux until they are not. */
void signals_keep(void);
/* Blocks none, unless the channel has no room for one. */
void signals_unblock(void);
/* LWK_CALL_SIGNALS_TAKEN */
void signals_taken(void);
/* Ends us as the LWK process ended. */
void signals_end(int wait_status) __attribute__((noreturn));

/* ---- timers.c ---- */

/* As timer_create(2) and timer_delete(2). */
int64_t timers_create(const struct lwk_packet *request);
int64_t timers_delete(const struct lwk_packet *request);
/* Async-signal-safe: is what it sends for a thread, and not for the process? */
bool timers_for_thread(int id);
/* In a child of ours, which has none. */
void timers_renew(void);

/* ---- syscall.S ---- */

/* The call's result; -EINTR without making it when the LWK has not taken all of 'signals'. */
int64_t interruptible_syscall(uint64_t nr, const uint64_t args[6],
			      const struct lwk_signals *signals);
extern const char interruptible_start[], interruptible_end[], interruptible_give_up[];
/* What a signal handler that libc does not know returns to. */
extern const char signal_restorer[];

#endif
