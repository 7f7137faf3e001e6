/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lwkexec starts a program on an LWK instance and is its proxy. One file, one thing:
 *   lwkexec.c  options, and the life of the process from start to end
 *   program.c  finds the program and checks that it can run
 *   load.c     puts it into the LWK process's memory
 *   channel.c  packets to and from the LWK
 *   calls.c    delegated system calls
 *   share.c    memory that the LWK process shares with others
 *   self.c     /proc/self, as the LWK process sees itself
 *   threads.c  one thread of ours for each of the LWK process's
 *   signals.c  signals, passed on
 *   syscall.S  a system call that a signal surely interrupts
 *
 * The LWK process's memory is mapped here at the same addresses (WINDOW), so its
 * pointers go to Linux as they are. Nothing here follows such a pointer itself: Linux
 * answers EFAULT for a bad one, and we would crash.
 */
#ifndef LWKEXEC_H
#define LWKEXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lwkpart.h"
#include "lwkshared.h"

/* Exit statuses of our own, as env(1) and timeout(1) have them. */
#define EXIT_LWK 125	    /* the LWK cannot be used */
#define EXIT_CANNOT_RUN 126 /* the program is there and cannot be run */
#define EXIT_NOT_FOUND 127

/* Says why on standard error and ends us with that status. */
void fail(int status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

/* The LWK process has ended, as LWK_CALL_EXIT says: says why if need be, and ends us alike. */
void program_ended(const struct lwk_packet *notice) __attribute__((noreturn));

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

/*
 * Finds argv[0] as execvp(3) does, what shall run it if it is a script, and reads the headers
 * of what is to be loaded; does not return on failure.
 */
void program_open(struct program *program, char **argv);

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
	uint32_t index; /* of its LWK CPU */
	uint32_t cpu;	/* Linux's number of it */
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
/* Gives the calling thread an LWK CPU of its own. 0 or a negative errno. */
int session_add_thread(void);
/*
 * Makes a descriptor one that we need ourselves: out of the way of the program's, closed on exec,
 * and not for the program to close. Its new number; -1 stays -1.
 */
int channel_keep(int fd);
/* Waits for a packet. Does not return when the instance is gone. */
void channel_receive(struct lwk_packet *packet);
void channel_reply(uint32_t id, int64_t result);
/* Calls that lwkpart.ko has carried out for us. */
uint64_t channel_served(void);
/* Asks the LWK and serves what it asks meanwhile. 0 or more, or a negative errno. */
int64_t channel_call(uint64_t nr, uint64_t arg0, uint64_t arg1, uint64_t arg2, uint64_t arg3);
/* Async-signal-safe. For this thread, or for any of the process. */
void channel_signal(int signal, bool for_thread);
/* Is this one of them? Which one is the next, from 'fd' on? UINT32_MAX: there is none. */
bool channel_owns(int fd);
uint32_t channel_next_owned(uint32_t fd);

/* ---- report.c ---- */

/* Takes what --lwk-report left in the environment; 'device' is the instance's. */
void report_init(const char *device);
/* When the last program has ended: prints the report, if one is wanted. */
void report_at_end(void);

/* ---- load.c ---- */

/* Loads the program with its arguments and the environment, and starts it. */
void load_and_start(const struct program *program, char **envp);

/* ---- threads.c ---- */

/* Makes a thread of ours that stands for a new one on the LWK. 0 or a negative errno. */
int64_t threads_add(void);
/* Serves the calling thread's channel. */
void threads_serve(void) __attribute__((noreturn));

/* ---- calls.c ---- */

void calls_init(void);
/* What Linux answers to a delegated call: a result or a negative errno. */
int64_t call_execute(const struct lwk_packet *request);

/* ---- share.c ---- */

/* LWK_CALL_SHARE, _GRANT, _UNSHARE and _RESHARE. */
int64_t share_begin(const uint64_t args[6]);
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
bool self_readlink(const char *path, uint64_t buffer, uint64_t size, int64_t *result);

/* ---- signals.c ---- */

void signals_init(void);
/* The LWK process changed its action: 0 default, 1 ignore, 2 a handler. */
void signals_action(int signal, int action);
/* Ends us as the LWK process ended. */
void signals_end(int wait_status) __attribute__((noreturn));

/* ---- syscall.S ---- */

/* The call's result; -EINTR without making it when one of the two words at 'pending' is not 0. */
int64_t interruptible_syscall(uint64_t nr, const uint64_t args[6], const volatile __u64 *pending);
extern const char interruptible_start[], interruptible_end[], interruptible_give_up[];
/* What a signal handler that libc does not know returns to. */
extern const char signal_restorer[];

#endif
