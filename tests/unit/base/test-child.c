// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests calls and programs in child processes: deadlines, signals, and open files. */
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "abi/shared/linux_calls.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/signals.h"
#include "store/lock_holder.h"

static int give_back(void *context)
{
	return *(int *)context;
}

static int never_end(void *context)
{
	for (;;)
		pause();
	return 0;
}

static int64_t in_ms(int64_t ms)
{
	return clock_ms() + ms;
}

static void a_call_returns_its_result(void **state)
{
	static const int results[] = { 0, -ENOMEM, -EBUSY };

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			child_call(give_back, &results[i], sizeof(results[i]), in_ms(10000)),
			results[i]);
}

static void a_call_is_killed_at_its_deadline(void **state)
{
	int64_t start = clock_ms();

	assert_int_equal(child_call(never_end, "", 0, in_ms(200)), -ETIMEDOUT);
	assert_true(clock_ms() - start >= 200);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
}

static int use_file(void *context)
{
	char byte;

	return read(*(int *)context, &byte, 1) == 1 ? 0 : -errno;
}

static void a_call_alone_has_one_open_file(void **state)
{
	int64_t start = clock_ms();
	int kept = open("/dev/zero", O_RDONLY), other = open("/dev/zero", O_RDONLY);

	assert_int_equal(child_call_alone(use_file, &kept, kept, in_ms(10000)), 0);
	assert_int_equal(child_call_alone(use_file, &kept, other, in_ms(10000)), -EBADF);
	assert_int_equal(child_call_alone(use_file, &kept, -1, in_ms(10000)), -EBADF);
	assert_int_equal(child_call_alone(never_end, NULL, -1, in_ms(200)), -ETIMEDOUT);
	assert_true(clock_ms() - start >= 200);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	close(kept);
	close(other);
}

static int tell_pid(void *context)
{
	return -getpid();
}

static int die(void *context)
{
	_exit(3);
}

static int call_pid(void)
{
	return -child_call(tell_pid, "", 0, in_ms(10000));
}

static void one_child_serves_until_it_is_ended_or_killed(void **state)
{
	char big[CHILD_CONTEXT_MAX + 1] = "";
	pid_t first, fork_of_us;
	int status;

	child_end_calls();
	first = call_pid();
	assert_true(first > 0 && first != getpid());
	assert_int_equal(call_pid(), first);
	assert_int_equal(child_call(tell_pid, big, sizeof(big), in_ms(10000)), -E2BIG);
	assert_int_equal(child_call(die, "", 0, in_ms(10000)), -ECHILD);
	assert_int_not_equal(call_pid(), first);
	first = call_pid();
	assert_int_equal(child_call(never_end, "", 0, in_ms(50)), -ETIMEDOUT);
	assert_int_not_equal(call_pid(), first);

	/* A forked process has a child of its own for calls, and leaves its parent's alone. */
	first = call_pid();
	fork_of_us = fork();
	if (fork_of_us == 0) {
		pid_t own = call_pid();

		child_end_calls();
		_exit(own > 0 && own != first ? 0 : 1);
	}
	assert_int_equal(waitpid(fork_of_us, &status, 0), fork_of_us);
	assert_int_equal(status, 0);
	assert_int_equal(call_pid(), first);

	child_end_calls();
	child_end_calls();
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
}

static void a_signal_cancels_and_is_kept(void **state)
{
	sigset_t pending;
	pid_t child;
	int status;

	child = fork();
	if (child == 0) {
		pid_t me = getpid();

		signals_hold();
		if (fork() == 0) {
			usleep(100000);
			kill(me, SIGTERM);
			_exit(0);
		}
		if (child_call(never_end, "", 0, in_ms(20000)) != -EINTR || !signal_is_pending() ||
		    sigpending(&pending) < 0 || !sigismember(&pending, SIGTERM))
			_exit(1);
		signals_release(); /* ends this process */
		_exit(2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void nobody_waits_for_ignored_children(void **state)
{
	int busy = -EBUSY;
	char output[64];
	const char *const argv[] = { "/bin/true", NULL };

	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(child_call(give_back, &busy, sizeof(busy), in_ms(10000)), -EBUSY);
	assert_int_equal(child_run(argv, in_ms(10000), output, sizeof(output)), -ECHILD);
	signal(SIGCHLD, SIG_DFL);
}

static void the_child_keeps_the_lock(void **state)
{
	struct ms_error err;
	int lock = state_lock(0, &err), status;
	char found[64];
	pid_t holder;

	assert_true(lock >= 0);
	assert_int_equal(state_lock(50, &err), -1);
	/* The lock may be another program's than a job's switch. */
	snprintf(found, sizeof(found), "found process %d (%s) has it", getpid(),
		 program_invocation_short_name);
	assert_has(err.text, found);
	close(lock);

	/* The child of a call has the lock, too, and keeps it only until its end. */
	lock = state_lock(0, &err);
	assert_true(lock >= 0);
	assert_true(call_pid() > 0);
	child_end_calls();
	close(lock);
	lock = state_lock(0, &err);
	assert_true(lock >= 0);
	close(lock);

	holder = fork();
	if (holder == 0) {
		if (state_lock(0, &err) < 0)
			_exit(1);
		child_call(never_end, "", 0, in_ms(600000));
		_exit(2);
	}
	while ((lock = state_lock(0, &err)) >= 0) {
		close(lock);
		usleep(1000);
	}
	kill(holder, SIGKILL);
	assert_int_equal(waitpid(holder, &status, 0), holder);
	/* The grandchild ends as well, which frees the lock. */
	lock = state_lock(10000, &err);
	assert_true(lock >= 0);
	close(lock);
}

/* The process that took the lock may have ended, and its number be another's. */
static void who_has_the_lock_is_found(void **state)
{
	struct ms_error err;
	int lock = state_lock(0, &err), status;
	char name[32];
	pid_t child;

	assert_true(lock >= 0);
	assert_int_equal(lock_holder(), getpid());
	close(lock);
	assert_int_equal(lock_holder(), 0);
	assert_int_equal(lock_holder_kill(), 0);

	lock = open(unit_file("lock", "%s", ""), O_RDWR | O_CLOEXEC);
	assert_true(lock >= 0);
	child = fork();
	if (child == 0)
		_exit(flock(lock, LOCK_EX | LOCK_NB) < 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(lock_holder(), getpid());
	close(lock);

	child = fork();
	if (child == 0) {
		if (prctl(PR_SET_NAME, "\033[2J") < 0 || state_lock(0, &err) < 0)
			_exit(1);
		pause();
	}
	while (lock_holder() != child)
		usleep(1000);
	lock_holder_name(child, name, sizeof(name));
	assert_string_equal(name, "?[2J");
	assert_int_equal(lock_holder_kill(), child);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* A user's process can neither have the lock nor pass for one that has it. */
static void a_user_s_process_is_no_holder(void **state)
{
	struct ms_error err;
	int ends[2], status;
	pid_t taker;
	char byte;

	if (geteuid() != 0)
		skip();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	taker = fork();
	if (taker == 0) {
		if (state_lock(0, &err) < 0)
			_exit(1);
		if (fork() != 0)
			_exit(0);
		close(ends[1]);
		_exit(setresuid(65534, 65534, 65534) < 0 || write(ends[0], "", 1) != 1 ||
		      read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	assert_int_equal(waitpid(taker, &status, 0), taker);
	assert_int_equal(status, 0);
	assert_int_equal(read(ends[1], &byte, 1), 1);
	assert_int_equal(lock_holder(), 0);
	assert_int_equal(state_lock(0, &err), -1);
	assert_has(err.text, "found another process has it");
	close(ends[1]);
}

/* Starts a program by the name that has the lock, with the argument; returns its process. */
static pid_t start_holder(const char *name, const char *argument)
{
	char path[128], script[256], ready[64];
	struct ms_error err;
	pid_t child;

	snprintf(path, sizeof(path), "%s/%s", unit_dir, name);
	snprintf(ready, sizeof(ready), "ready-%s", argument);
	snprintf(script, sizeof(script), ": >%s/%s; read line", unit_dir, ready);
	assert_true(symlink("/bin/sh", path) == 0 || errno == EEXIST);
	child = fork();
	if (child == 0) {
		int lock = state_lock(0, &err), input[2];

		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || lock < 0 ||
		    fcntl(lock, F_SETFD, 0) < 0 || pipe(input) < 0 || dup2(input[0], 0) < 0)
			_exit(1);
		execl(path, name, "-c", script, argument, "prolog", NULL);
		_exit(1);
	}
	while (!unit_exists(ready))
		usleep(1000);
	assert_int_equal(lock_holder(), child);
	return child;
}

/* A job's step has the lock while it keeps a dump; a prolog is a slurmstepd, too. */
static void a_step_that_has_the_lock_is_not_killed(void **state)
{
	pid_t step = start_holder("slurmstepd", "other"), prolog;
	int status;

	assert_int_equal(lock_holder_kill(), 0);
	assert_int_equal(waitpid(step, &status, WNOHANG), 0);
	kill(step, SIGKILL);
	assert_int_equal(waitpid(step, &status, 0), step);
	prolog = start_holder("slurmstepd", "spank");
	assert_int_equal(lock_holder_kill(), prolog);
	assert_int_equal(waitpid(prolog, &status, 0), prolog);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/*
 * Holds the lock for a short time again and again, together for longer than a waiter waits for one
 * holder.
 */
static void hold_lock_again_and_again(int ready)
{
	struct ms_error err;
	int lock;

	for (int i = 0; i < 40; i++) {
		lock = state_lock(10000, &err);
		if (i == 0 && write(ready, "", 1) != 1)
			_exit(1);
		usleep(50000);
		close(lock);
	}
	_exit(0);
}

static void others_that_take_turns_are_waited_for(void **state)
{
	struct ms_error err;
	int ready[2], lock;
	pid_t holder;
	char byte;

	assert_int_equal(pipe(ready), 0);
	holder = fork();
	if (holder == 0)
		hold_lock_again_and_again(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	lock = state_lock(1000, &err);
	assert_true(lock >= 0);
	close(lock);
	assert_int_equal(waitpid(holder, NULL, 0), holder);
	close(ready[0]);
	close(ready[1]);
}

static void a_program_runs_in_a_clean_environment(void **state)
{
	const char *const env[] = { "/usr/bin/env", NULL };
	const char *const ls[] = { "/bin/ls", "/proc/self/fd", NULL };
	int leak = open("/dev/null", O_RDONLY); /* not close-on-exec */
	char output[4096];

	setenv("LD_PRELOAD", "", 1);
	setenv("SECRET", "x", 1);
	assert_int_equal(child_run(env, in_ms(10000), output, sizeof(output)), 0);
	assert_string_equal(output, "PATH=/usr/sbin:/usr/bin:/sbin:/bin\nLC_ALL=C");
	assert_int_equal(child_run(ls, in_ms(10000), output, sizeof(output)), 0);
	assert_string_equal(output, "0\n1\n2\n3"); /* 3 is ls's own */
	close(leak);
}

static void a_program_s_status_and_output(void **state)
{
	const char *const fails[] = { "/bin/sh", "-c", "echo out; echo err >&2; exit 7", NULL };
	const char *const dies[] = { "/bin/sh", "-c", "kill -9 $$", NULL };
	const char *const sleeps[] = { "/bin/sleep", "1000", NULL };
	const char *const absent[] = { "/nowhere/modprobe", NULL };
	const char *const chatty[] = { "/bin/sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x",
				       NULL };
	char output[16];

	assert_int_equal(child_run(fails, in_ms(10000), output, sizeof(output)), 7);
	assert_string_equal(output, "out\nerr");
	assert_int_equal(child_run(dies, in_ms(10000), output, sizeof(output)), 128 + SIGKILL);
	assert_int_equal(child_run(sleeps, in_ms(200), output, sizeof(output)), -ETIMEDOUT);
	assert_int_equal(child_run(absent, in_ms(10000), output, sizeof(output)), 127);
	assert_has(output, "/nowhere");
	assert_int_equal(child_run(chatty, in_ms(10000), output, sizeof(output)), 0);
	assert_string_equal(output, "xxxxxxxxxxxxxxx");
}

static void a_detached_program_outlives_us_and_has_nothing_of_ours(void **state)
{
	char command[512];
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	struct ms_error err;
	pid_t starter;
	int lock, status;

	snprintf(command, sizeof(command),
		 "cd %s; sleep 0.2; ls /proc/self/fd >new; cut -d' ' -f1,6 /proc/$$/stat >>new; "
		 "mv new detached",
		 unit_dir);
	starter = fork();
	if (starter == 0) {
		lock = state_lock(0, &err);
		/*
		 * The detached program is no child of this process, so there is nothing to wait
		 * for.
		 */
		_exit(lock >= 0 && child_detach(argv) == 0 && waitpid(-1, NULL, 0) == -1 ? 0 : 1);
	}
	assert_int_equal(waitpid(starter, &status, 0), starter);
	assert_int_equal(status, 0);
	lock = state_lock(0, &err);
	assert_true(lock >= 0);
	close(lock);
	for (int i = 0; i < 500 && !unit_exists("detached"); i++)
		usleep(20000);
	snprintf(command, sizeof(command), "%s", unit_read("detached"));
	assert_int_equal(strncmp(command, "0\n1\n2\n3\n", 8), 0); /* 3 is ls's own */
	/* The program has a session of its own. */
	assert_int_not_equal(atoi(strrchr(command, ' ')), getsid(0));
}

/* Lets this process and its children have a kernel without close_range(2). */
static void lose_close_range(void)
{
	struct sock_filter instructions[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(instructions) / sizeof(*instructions), instructions };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		_exit(1);
}

static void without_close_range_files_are_closed_one_by_one(void **state)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		lose_close_range();
		if (syscall(__NR_close_range, 1000, 1000, 0) != -1 || errno != ENOSYS)
			_exit(2);
		/* More files than one call of getdents64(2) lists. */
		for (int i = 0; i < 200; i++)
			assert_true(dup(1) >= 0);
		a_call_alone_has_one_open_file(state);
		a_program_runs_in_a_clean_environment(state);
		a_detached_program_outlives_us_and_has_nothing_of_ours(state);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_returns_its_result),
		cmocka_unit_test(a_call_is_killed_at_its_deadline),
		cmocka_unit_test(a_call_alone_has_one_open_file),
		cmocka_unit_test(one_child_serves_until_it_is_ended_or_killed),
		cmocka_unit_test(a_signal_cancels_and_is_kept),
		cmocka_unit_test(nobody_waits_for_ignored_children),
		cmocka_unit_test_setup_teardown(who_has_the_lock_is_found, unit_setup,
						unit_teardown),
		cmocka_unit_test_setup_teardown(a_user_s_process_is_no_holder, unit_setup,
						unit_teardown),
		cmocka_unit_test_setup_teardown(a_step_that_has_the_lock_is_not_killed, unit_setup,
						unit_teardown),
		cmocka_unit_test_setup_teardown(the_child_keeps_the_lock, unit_setup,
						unit_teardown),
		cmocka_unit_test_setup_teardown(others_that_take_turns_are_waited_for, unit_setup,
						unit_teardown),
		cmocka_unit_test(a_program_runs_in_a_clean_environment),
		cmocka_unit_test(a_program_s_status_and_output),
		cmocka_unit_test_setup_teardown(
			a_detached_program_outlives_us_and_has_nothing_of_ours, unit_setup,
			unit_teardown),
		cmocka_unit_test_setup_teardown(without_close_range_files_are_closed_one_by_one,
						unit_setup, unit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
