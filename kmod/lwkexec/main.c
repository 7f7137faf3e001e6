/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lwkexec starts a program on an LWK instance and is its proxy: it carries out the program's
 * delegated system calls and passes signals on to it. This file: options, and the process from
 * start to end.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/shared/calls.h"
#include "lwkexec/base/fail.h"
#include "lwkexec/base/strings.h"
#include "lwkexec/calls.h"
#include "lwkexec/cpu_share.h"
#include "lwkexec/instance/channel.h"
#include "lwkexec/instance/copy.h"
#include "lwkexec/instance/report.h"
#include "lwkexec/instance/session.h"
#include "lwkexec/process/cause.h"
#include "lwkexec/core/core.h"
#include "lwkexec/process/exec.h"
#include "lwkexec/process/fork.h"
#include "lwkexec/process/limits.h"
#include "lwkexec/process/signals.h"
#include "lwkexec/program/load.h"
#include "lwkexec/program/program.h"
#include "lwkexec/view/self.h"

/* A job sees one device, its own. */
#define DEVICES "/dev/lwk/"
#define DEFAULT_DEVICE DEVICES "*"
/* Set by the SPANK plugin: the program's argv[0]; all arguments of lwkexec are the program's. */
#define ENV_ARGV0 "LWK_ARGV0"
#define ENV_DEVICE "LWK_DEVICE"
/* Set by leave_low_addresses() for the second start. */
#define ENV_STACK "LWK_STACK_LIMIT"

static const char usage[] =
	"usage: lwkexec [--device DEVICE] PROGRAM [ARGUMENT…]\n"
	"Runs PROGRAM on an LWK instance, by default the job's own (" DEFAULT_DEVICE ").\n"
	"  -d, --device DEVICE  the instance's device\n"
	"  -h, --help           this text\n"
	"  -V, --version        the version\n"
	"The exit status is PROGRAM's; 125 when the LWK cannot be used, 126 when PROGRAM\n"
	"cannot be run, 127 when it is not found. See lwkexec(1).\n";

/*
 * With an unlimited stack Linux maps libraries upwards from low addresses, where the window must
 * be. lwkexec then starts again with a limit, and restores the program's limit afterwards.
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
		/* Fails only if somebody else has set the variable; then the limit stays. */
		setrlimit(RLIMIT_STACK, &limit);
		return;
	}
	if (limit.rlim_cur != RLIM_INFINITY)
		return;
	snprintf(text, sizeof(text), "%ju", (uintmax_t)limit.rlim_cur);
	limit.rlim_cur = 8UL << 20;
	if (setrlimit(RLIMIT_STACK, &limit) || setenv(ENV_STACK, text, 1))
		fail(EXIT_LWK, "no stack limit can be set: %s; use ulimit -s 8192",
		     strerror(errno));
	execv("/proc/self/exe", argv);
	fail(EXIT_LWK, "cannot start again with a stack limit: %s; use ulimit -s 8192",
	     strerror(errno));
}

/* Reads lwkexec's own options; returns the program's argv. */
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

/* ---- the program ---- */

static struct program program;

static char *find_program(const char *name)
{
	char *path = program_find(name);

	if (!path)
		fail(errno == EACCES ? EXIT_CANNOT_RUN : EXIT_NOT_FOUND,
		     errno == EACCES ? "%s: is in PATH but not executable; chmod +x it"
				     : "%s: no such program in PATH; check the name",
		     name);
	return path;
}

static bool is_lwkexec(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat self, st;

	return strcmp(slash ? slash + 1 : path, "lwkexec") == 0 && stat(path, &st) == 0 &&
	       stat("/proc/self/exe", &self) == 0 && st.st_dev == self.st_dev &&
	       st.st_ino == self.st_ino;
}

/*
 * An lwkexec that is started on the LWK, such as the fork agent of an mpirun that runs there, becomes
 * its own program: it needs no LWK CPU besides the one that it is on.
 */
static void open_program(const char *name, char *path, char **argv)
{
	const char *device;

	while (is_lwkexec(path)) {
		optind = 0; /* getopt(3) begins again */
		argv = parse_arguments(strings_count(argv), argv, &device);
		name = argv[0];
		path = find_program(name);
	}
	if (program_open(&program, name, path, argv))
		fail_refused();
}

/* ---- the process ---- */

/* The LWK process has ended, as LWK_CALL_EXIT says: ends the proxy alike. */
static void end(const struct lwk_packet *notice) __attribute__((noreturn));
static void end(const struct lwk_packet *notice)
{
	struct core_text core;
	struct lwk_cause cause;
	sigset_t all;

	memcpy(&cause, (const void *)(notice->args + 1), sizeof(cause));
	/* There is nobody left to pass a signal on to. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	core_write(&program, notice->args[0], &cause, &core);
	cause_tell(program.name, notice->args[0], &cause, core.text);
	fork_return();
	/*
	 * lwkpart.ko charges the proxy with what the program has used, for the process that waits
	 * for it.
	 */
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

static void take_notice(const struct lwk_packet *notice)
{
	switch (notice->nr) {
	case LWK_CALL_SIGNAL_ACTION:
		signals_action(notice->args[0], notice->args[1]);
		break;
	case LWK_CALL_SIGNALS_TAKEN:
		signals_taken();
		break;
	case LWK_CALL_EXIT:
		end(notice);
	}
}

static void serve(uint64_t blocked, uint64_t ignored, const struct numbers *cpus)
	__attribute__((noreturn));
static void serve(uint64_t blocked, uint64_t ignored, const struct numbers *cpus)
{
	static const struct channel_server server = { calls_execute, take_notice };
	sigset_t none;

	channel_init(&server);
	self_init(&program);
	copy_init();
	cause_init();
	limits_apply();
	ignored = signals_init(ignored);
	/* From now on the LWK blocks signals for the program. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	load_and_start(&program, environ, blocked, ignored, cpus);
	channel_serve();
}

/* Goes on as the lwkexec before the exec left off; the environment is only the program's. */
static void resume_program(const struct resume *former) __attribute__((noreturn));
static void resume_program(const struct resume *former)
{
	struct rlimit limit;
	char device[64];

	if (former->no_stack_limit && getrlimit(RLIMIT_STACK, &limit) == 0) {
		limit.rlim_cur = RLIM_INFINITY;
		setrlimit(RLIMIT_STACK, &limit);
	}
	open_program(former->path, former->path, former->argv);
	limits_resume(&former->address_space);
	session_resume(former->device, former->serve);
	session_path(device, sizeof(device));
	if (*former->report)
		report_resume(device, former->report, former->report_file);
	/* The LWK knows the CPUs of the process. */
	serve(former->blocked, former->ignored, NULL);
}

/* Returns the job's device, or a path where there is none. */
static const char *find_device(void)
{
	static char path[sizeof(DEVICES) + NAME_MAX] = DEFAULT_DEVICE;
	DIR *directory = opendir(DEVICES);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			snprintf(path, sizeof(path), DEVICES "%s", entry->d_name);
	if (directory)
		closedir(directory);
	return path;
}

int main(int argc, char **argv)
{
	const char *name = getenv(ENV_ARGV0), *device = getenv(ENV_DEVICE);
	struct resume former;

	if (exec_resumes(argc, argv, &former))
		resume_program(&former);
	leave_low_addresses(argv);
	if (!device || !*device)
		device = find_device();
	if (name) {
		argv[0] = strdup(name);
		unsetenv(ENV_ARGV0);
	} else {
		argv = parse_arguments(argc, argv, &device);
	}
	open_program(argv[0], find_program(argv[0]), argv);
	limits_take();
	session_open(device);
	report_init(device);
	serve(blocked_signals(), signals_inherited(), cpu_share());
}
