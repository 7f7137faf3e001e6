/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lwkexec: starts a program on the job's LWK instance and is its proxy. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

#define DEFAULT_DEVICE "/dev/lwk/0"
/* Set by the SPANK plugin: run this program, all our arguments are its. */
#define ENV_ARGV0 "LWK_ARGV0"
#define ENV_DEVICE "LWK_DEVICE"
/* Set by ourselves for the second start, see leave_low_addresses(). */
#define ENV_STACK "LWK_STACK_LIMIT"

static const char usage[] =
	"usage: lwkexec [--device DEVICE] PROGRAM [ARGUMENT…]\n"
	"Runs PROGRAM on an LWK instance, by default the job's own (" DEFAULT_DEVICE ").\n"
	"  -d, --device DEVICE  the instance's device\n"
	"  -h, --help           this text\n"
	"  -V, --version        the version\n"
	"The exit status is PROGRAM's; 125 when the LWK cannot be used, 126 when PROGRAM\n"
	"cannot be run, 127 when it is not found. See lwkexec(1).\n";

void fail(int status, const char *format, ...)
{
	va_list args;

	fputs("lwkexec: error: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

/*
 * With an unlimited stack Linux maps libraries upwards from low addresses, which are
 * the LWK process's here. We start again with a limit, and give the program its own.
 */
static void leave_low_addresses(char **argv)
{
	const char *saved = getenv(ENV_STACK);
	struct rlimit limit;
	char text[32];

	if (getrlimit(RLIMIT_STACK, &limit))
		return;
	if (saved) {
		limit.rlim_cur = strtoumax(saved, NULL, 10);
		unsetenv(ENV_STACK);
		/* May fail if somebody else set the variable: then the limit stays. */
		setrlimit(RLIMIT_STACK, &limit);
		return;
	}
	if (limit.rlim_cur != RLIM_INFINITY)
		return;
	snprintf(text, sizeof(text), "%ju", (uintmax_t)limit.rlim_cur);
	limit.rlim_cur = 8UL << 20;
	if (setrlimit(RLIMIT_STACK, &limit) || setenv(ENV_STACK, text, 1))
		fail(EXIT_LWK, "no stack limit can be set: %s", strerror(errno));
	execv("/proc/self/exe", argv);
	fail(EXIT_LWK, "cannot start again with a stack limit: %s; use ulimit -s 8192",
	     strerror(errno));
}

/* The program's argv: ours, less what was for us. */
static char **parse_arguments(int argc, char **argv, const char **device)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "+d:hV", options, NULL)) != -1) {
		switch (option) {
		case 'd':
			*device = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		case 'V':
			puts("lwkexec (slurm-lwk) " VERSION);
			exit(0);
		default:
			exit(EXIT_LWK);
		}
	}
	if (optind == argc) {
		fputs(usage, stderr);
		exit(EXIT_LWK);
	}
	return argv + optind;
}

static struct program program;

void program_ended(const struct lwk_packet *notice)
{
	sigset_t all;

	if (notice->args[1])
		fprintf(stderr,
			"lwkexec: %s: killed, the LWK is out of memory (it has %llu MB for all processes); ask for more with --mem\n",
			program.name, (unsigned long long)session.status->user_bytes >> 20);
	/* What came now could be passed on to nobody. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	/* Before we end: who waits for us learns what the program has used. */
	if (session_close() == 0)
		report_at_end();
	signals_end(notice->args[0]);
}

static uint64_t blocked_signals(void)
{
	sigset_t set;
	uint64_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &set);
	memcpy(&blocked, &set, sizeof(blocked));
	return blocked;
}

static void serve(uint64_t blocked, uint64_t ignored) __attribute__((noreturn));
static void serve(uint64_t blocked, uint64_t ignored)
{
	sigset_t none;

	self_init(&program);
	calls_init();
	ignored = signals_init(ignored);
	/* They are for the LWK to block. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	load_and_start(&program, environ, blocked, ignored);
	threads_serve();
}

/* A program has become another one, whose environment is none of our business. */
static void resume(const struct resume *former) __attribute__((noreturn));
static void resume(const struct resume *former)
{
	struct rlimit limit;
	char device[64];

	if (former->no_stack_limit && getrlimit(RLIMIT_STACK, &limit) == 0) {
		limit.rlim_cur = RLIM_INFINITY;
		setrlimit(RLIMIT_STACK, &limit);
	}
	if (program_open(&program, former->path, former->path, former->argv))
		program_fail();
	session_resume(former->device, former->proxy_calls);
	session_path(device, sizeof(device));
	if (*former->report)
		report_resume(device, former->report, former->report_file);
	serve(former->blocked, former->ignored);
}

static void open_program(char **argv)
{
	char *path = program_find(argv[0]);

	if (!path)
		fail(errno == EACCES ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND,
		     errno == EACCES ? "%s: is in PATH but not executable; chmod +x it"
				     : "%s: no such program in PATH; check the name",
		     argv[0]);
	if (program_open(&program, argv[0], path, argv))
		program_fail();
}

int main(int argc, char **argv)
{
	const char *name = getenv(ENV_ARGV0), *device = getenv(ENV_DEVICE);
	struct resume former;

	if (exec_resumes(argc, argv, &former))
		resume(&former);
	leave_low_addresses(argv);
	if (!device || !*device)
		device = DEFAULT_DEVICE;
	if (name) {
		argv[0] = strdup(name);
		unsetenv(ENV_ARGV0);
	} else {
		argv = parse_arguments(argc, argv, &device);
	}
	open_program(argv);
	session_open(device);
	report_init(device);
	serve(blocked_signals(), 0);
}
