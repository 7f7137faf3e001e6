/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proxies-load read FILE    the LWK job: reads 256 KB of the file, without pause or end
 * proxies-load compute      the LWK job that needs no proxy
 * proxies-load job OS-CPUS PROXIES
 *                           the Linux-only job: for each line "OPERATION SECONDS" of its input does
 *                           the operation that long, prints "begin" and then one line of JSON
 *
 * The operations are those of byte-unixbench's index (github.com/kdlucas/byte-unixbench), which
 * Debian has no package of, written from their definitions:
 *   dhrystone   integers, strings and records, as Weicker's benchmark mixes them (not his program)
 *   whetstone   double precision, with elementary functions, as Curnow and Wichmann's (nor theirs)
 *   execl       a process replaces itself by the same program, with execl()
 *   copy SIZE   read() of SIZE bytes from one file and write() to another; the files have
 *               2000 KB (1024), 500 KB (256) and 8000 KB (4096); in memory, not on a disk
 *   pipe        write() and read() of 512 bytes through one pipe by one process
 *   context     two processes pass a growing number to and fro through two pipes
 *   spawn       fork() of a child that ends at once, and wait()
 *   shell N     N copies at once of a script: sort, od | sort, grep | tee | wc
 *   syscall     close(dup(0)), getppid(), getuid(), umask()
 * and none: nothing at all.
 *
 * In its line, CPU times of OS-CPUS are in microseconds, one for each of these: idle, all of the
 * job's own cgroup, all in the cgroup PROXIES (a directory of the cpuacct controller).
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPUACCT "/sys/fs/cgroup/cpuacct"
#define SCRATCH "/dev/shm/proxies-load"
#define MAX_CPUS 256
#define READ_BYTES (256 << 10)

static volatile sig_atomic_t over;
/* Shared with whatever an operation starts. */
static uint64_t *count;

static void *checked(void *result, const char *what)
{
	if (!result || result == MAP_FAILED)
		err(1, "%s", what);
	return result;
}

static long check(long result, const char *what)
{
	if (result < 0)
		err(1, "%s", what);
	return result;
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000UL + now.tv_nsec / 1000;
}

/* ---- the LWK job ---- */

static void read_always(const char *path)
{
	static char buffer[READ_BYTES];
	int file = check(open(path, O_RDONLY), path);

	for (;;) {
		if (pread(file, buffer, sizeof(buffer), 0) != sizeof(buffer))
			err(1, "%s", path);
	}
}

static void compute_always(void)
{
	for (volatile uint64_t i = 0;; i = i + 1)
		;
}

/* ---- the operations: each counts until it is over ---- */

struct record {
	struct record *next;
	int kind, number;
	char text[31];
};

static void dhrystone(int ignored)
{
	struct record first = { .kind = 1, .text = "DHRYSTONE PROGRAM, SOME STRING" };
	struct record second = { .next = &first };
	volatile int sink;
	int table[50] = { 0 };

	(void)ignored;
	for (; !over; ++*count) {
		char text[31] = "DHRYSTONE PROGRAM, 2'ND STRING";
		int a = 2, b = 3, c;

		second = first;
		second.number = strcmp(text, first.text) > 0 ? 7 : 10;
		c = 5 * a - b;
		for (int i = 0; i < 2; i++)
			table[(c + i) % 50] = table[c % 50] + i;
		memcpy(second.text, text, sizeof(text));
		for (char letter = 'A'; letter <= 'B'; letter++)
			a += letter == text[2] ? b : c;
		b = (b * a) / (c ? c : 1) - 7 * (b - c);
		first.number = b % 100;
		sink = second.number + table[c % 50];
	}
	(void)sink;
}

static void whetstone(int ignored)
{
	volatile double sink;
	double e[4] = { 1, -1, -1, -1 }, x = 0.5, y = 0.5;

	(void)ignored;
	for (; !over; ++*count) {
		for (int i = 0; i < 10; i++) {
			e[0] = (e[0] + e[1] + e[2] - e[3]) * 0.499975;
			e[1] = (e[0] + e[1] - e[2] + e[3]) * 0.499975;
			e[2] = (e[0] - e[1] + e[2] + e[3]) * 0.499975;
			e[3] = (-e[0] + e[1] + e[2] + e[3]) * 0.499975;
		}
		x = 0.499975 * atan(2 * sin(x) * cos(x) / (cos(x + y) + cos(x - y) - 1));
		y = sqrt(exp(log(fabs(x) + 1) / 0.50025));
		sink = e[0] + x + y;
	}
	(void)sink;
}

/* Each execl() starts the program again, so no signal can tell it when the time is over. */
static void execl_again(uint64_t end, uint64_t n)
{
	char end_text[24], n_text[24];

	if (now_us() >= end) {
		printf("%lu\n", n);
		fflush(stdout);
		_exit(0);
	}
	snprintf(end_text, sizeof(end_text), "%lu", end);
	snprintf(n_text, sizeof(n_text), "%lu", n + 1);
	execl("/proc/self/exe", "proxies-load", "again", end_text, n_text, NULL);
	err(1, "execl");
}

static void copy(int size)
{
	static char buffer[4096];
	long blocks = (size == 256 ? 500L : size == 1024 ? 2000L : 8000L) * 1024 / size;
	int from = check(open(SCRATCH "/from", O_RDWR | O_CREAT | O_TRUNC, 0600), SCRATCH "/from");
	int to = check(open(SCRATCH "/to", O_RDWR | O_CREAT | O_TRUNC, 0600), SCRATCH "/to");

	for (long i = 0; i < blocks; i++)
		check(write(from, buffer, size), "write");
	while (!over) {
		lseek(from, 0, SEEK_SET);
		lseek(to, 0, SEEK_SET);
		for (long i = 0; i < blocks && !over; i++, ++*count) {
			if (read(from, buffer, size) != size || write(to, buffer, size) != size)
				err(1, "copy");
		}
	}
}

static void pipe_through(int ignored)
{
	char buffer[512] = { 0 };
	int ends[2];

	(void)ignored;
	check(pipe(ends), "pipe");
	for (; !over; ++*count) {
		if (write(ends[1], buffer, sizeof(buffer)) != sizeof(buffer) ||
		    read(ends[0], buffer, sizeof(buffer)) != sizeof(buffer))
			err(1, "pipe");
	}
}

static void context(int ignored)
{
	int there[2], back[2];
	unsigned long number, i;
	pid_t child;

	(void)ignored;
	check(pipe(there), "pipe");
	check(pipe(back), "pipe");
	check(child = fork(), "fork");
	if (child == 0) {
		close(there[1]);
		while (read(there[0], &number, sizeof(number)) == sizeof(number))
			check(write(back[1], &number, sizeof(number)), "write");
		_exit(0);
	}
	close(there[0]);
	for (i = 0; !over; i++, ++*count) {
		if (write(there[1], &i, sizeof(i)) != sizeof(i))
			err(1, "write");
		/* The alarm may come here. */
		while (read(back[0], &number, sizeof(number)) != sizeof(number) && !over)
			;
		if (!over && number != i)
			errx(1, "context: expected %lu, found %lu", i, number);
	}
	close(there[1]);
	waitpid(child, NULL, 0);
}

static void spawn(int ignored)
{
	(void)ignored;
	for (; !over; ++*count) {
		pid_t child = fork();

		check(child, "fork");
		if (child == 0)
			_exit(0);
		while (waitpid(child, NULL, 0) < 0 && !over)
			;
	}
}

static const char script[] = "cd " SCRATCH "\n"
			     "sort <words >sort.$$\n"
			     "od sort.$$ | sort -n -k 1 >od.$$\n"
			     "grep the sort.$$ | tee grep.$$ | wc >wc.$$\n"
			     "rm sort.$$ grep.$$ od.$$ wc.$$\n";

static void write_words(void)
{
	static const char *const words[] = { "the", "version", "of", "this",  "benchmark", "and",
					     "all", "others",  "in", "there", "system",	   "was" };
	FILE *file = checked(fopen(SCRATCH "/words", "w"), SCRATCH "/words");
	unsigned seed = 1;

	for (int i = 0; i < 400; i++) {
		for (int word = 0; word < 8; word++) {
			seed = seed * 1103515245 + 12345;
			fprintf(file, "%s ", words[seed / 65536 % 12]);
		}
		fprintf(file, "%d\n", i);
	}
	fclose(file);
}

static void shell(int copies)
{
	write_words();
	while (!over) {
		for (int i = 0; i < copies; i++) {
			pid_t child = fork();

			check(child, "fork");
			if (child == 0) {
				execl("/bin/sh", "sh", "-c", script, NULL);
				err(1, "/bin/sh");
			}
		}
		/* Operations that have begun are finished and count. */
		for (int left = copies, status; left > 0;) {
			if (wait(&status) < 0)
				continue;
			if (status != 0)
				errx(1, "the script failed");
			left--;
			++*count;
		}
	}
}

static void system_calls(int ignored)
{
	(void)ignored;
	for (; !over; ++*count) {
		close(dup(0));
		getppid();
		getuid();
		umask(022);
	}
}

static void none(int ignored)
{
	(void)ignored;
	while (!over)
		pause();
}

static const struct operation {
	const char *name;
	void (*run)(int argument); /* NULL: execl */
	int argument;
} operations[] = {
	{ "dhrystone", dhrystone, 0 }, { "whetstone", whetstone, 0 },
	{ "execl", NULL, 0 },	       { "copy 1024", copy, 1024 },
	{ "copy 256", copy, 256 },     { "copy 4096", copy, 4096 },
	{ "pipe", pipe_through, 0 },   { "context", context, 0 },
	{ "spawn", spawn, 0 },	       { "shell 1", shell, 1 },
	{ "shell 8", shell, 8 },       { "syscall", system_calls, 0 },
	{ "none", none, 0 },
};

/* ---- the Linux-only job ---- */

static int cpus[MAX_CPUS], n_cpus;
static char own_group[256], proxies_group[256];

struct snapshot {
	uint64_t us;
	int64_t idle[MAX_CPUS], own[MAX_CPUS], proxies[MAX_CPUS];
};

static void set_over(int ignored)
{
	(void)ignored;
	over = 1;
}

/* "0,1" */
static void parse_cpus(const char *text)
{
	char *end;

	for (; *text && n_cpus < MAX_CPUS; text = end + (*end == ',')) {
		cpus[n_cpus++] = strtol(text, &end, 10);
		if (end == text || (*end && *end != ',') || cpus[n_cpus - 1] < 0)
			errx(2, "expected CPUs like 0,1, found \"%s\"", text);
	}
}

static void find_own_group(void)
{
	FILE *file = checked(fopen("/proc/self/cgroup", "r"), "/proc/self/cgroup");
	char line[512], *path;

	while (fgets(line, sizeof(line), file)) {
		path = strstr(line, "cpuacct:");
		if (!path)
			continue;
		path += strlen("cpuacct:");
		path[strcspn(path, "\n")] = '\0';
		snprintf(own_group, sizeof(own_group), CPUACCT "%s", path);
	}
	fclose(file);
	if (!*own_group)
		errx(1, "expected a cgroup of the controller cpuacct, found none");
}

/* Nothing is there when there are no proxies. */
static void read_group(const char *group, int64_t *times)
{
	char path[512];
	int64_t all[MAX_CPUS] = { 0 };
	FILE *file;

	snprintf(path, sizeof(path), "%s/cpuacct.usage_percpu", group);
	file = fopen(path, "r");
	for (int i = 0; file && i < MAX_CPUS && fscanf(file, "%ld", &all[i]) == 1; i++)
		;
	if (file)
		fclose(file);
	for (int i = 0; i < n_cpus; i++)
		times[i] = all[cpus[i]] / 1000;
}

static void read_idle(int64_t *times)
{
	FILE *file = checked(fopen("/proc/stat", "r"), "/proc/stat");
	char line[1024];
	long idle, wait;
	int cpu;

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "cpu%d %*d %*d %*d %ld %ld", &cpu, &idle, &wait) != 3)
			continue;
		for (int i = 0; i < n_cpus; i++) {
			if (cpus[i] == cpu)
				times[i] = (idle + wait) * (1000000 / sysconf(_SC_CLK_TCK));
		}
	}
	fclose(file);
}

static void look(struct snapshot *snapshot)
{
	read_group(own_group, snapshot->own);
	read_group(proxies_group, snapshot->proxies);
	read_idle(snapshot->idle);
	snapshot->us = now_us();
}

static void print_times(const char *name, const int64_t *before, const int64_t *after)
{
	printf(",\"%s\":[", name);
	for (int i = 0; i < n_cpus; i++)
		printf("%s%ld", i ? "," : "", after[i] - before[i]);
	printf("]");
}

/* Runs the operation in a process of its own, which ends with it. */
static void run(const struct operation *operation, uint64_t us)
{
	struct itimerval alarm = { .it_value = { us / 1000000, us % 1000000 } };
	struct sigaction action = { .sa_handler = set_over };

	if (!operation->run)
		execl_again(now_us() + us, 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &alarm, NULL);
	operation->run(operation->argument);
	printf("%lu\n", *count);
	fflush(stdout);
	_exit(0);
}

static uint64_t result_of(const struct operation *operation, uint64_t us)
{
	char text[64] = "";
	int ends[2], status;
	pid_t child;

	check(pipe(ends), "pipe");
	*count = 0;
	check(child = fork(), "fork");
	if (child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		run(operation, us);
	}
	close(ends[1]);
	for (size_t got = 0; got < sizeof(text) - 1;) {
		ssize_t n = read(ends[0], text + got, sizeof(text) - 1 - got);

		if (n <= 0)
			break;
		got += n;
	}
	close(ends[0]);
	if (waitpid(child, &status, 0) < 0 || status != 0)
		errx(1, "%s: ended with status %#x", operation->name, status);
	return strtoul(text, NULL, 10);
}

static void serve(const char *name, double seconds)
{
	struct snapshot before = { 0 }, after = { 0 };
	uint64_t n;

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(operations[i].name, name) != 0)
			continue;
		puts("begin");
		fflush(stdout);
		look(&before);
		n = result_of(&operations[i], seconds * 1000000);
		look(&after);
		printf("{\"operation\":\"%s\",\"n\":%lu,\"us\":%lu", name, n, after.us - before.us);
		print_times("idle", before.idle, after.idle);
		print_times("job", before.own, after.own);
		print_times("proxies", before.proxies, after.proxies);
		puts("}");
		fflush(stdout);
		return;
	}
	errx(1, "no operation \"%s\"", name);
}

static void be_job(void)
{
	char line[256];
	double seconds;
	char *at;

	if (mkdir(SCRATCH, 0700) < 0 && access(SCRATCH, W_OK) < 0)
		err(1, SCRATCH);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		at = strrchr(line, ' ');
		if (!at || sscanf(at, "%lf", &seconds) != 1 || seconds <= 0)
			errx(1, "expected OPERATION SECONDS, found \"%s\"", line);
		*at = '\0';
		find_own_group();
		serve(line, seconds);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "again") == 0)
		execl_again(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
	if (argc == 3 && strcmp(argv[1], "read") == 0)
		read_always(argv[2]);
	if (argc == 2 && strcmp(argv[1], "compute") == 0)
		compute_always();
	if (argc != 4 || strcmp(argv[1], "job") != 0)
		errx(2, "usage: proxies-load read FILE | compute | job OS-CPUS PROXIES");
	count = checked(mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0),
			"mmap");
	parse_cpus(argv[2]);
	snprintf(proxies_group, sizeof(proxies_group), CPUACCT "/%s", argv[3]);
	be_job();
	return 0;
}
