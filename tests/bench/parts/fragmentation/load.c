// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills and churns a node's memory while tests/bench/fragmentation runs:
 *   memory-load system BEGIN DIR MB  as services do: once the file BEGIN is there, until killed
 *   memory-load stream END MB        large arrays, got at once, as STREAM has them
 *   memory-load stencil END MB       a grid and its copy, swept again and again
 *   memory-load files END DIR MB     file cache, and inodes of many small files
 * The last three print "full" when they have filled their share, and go on until the file END is
 * there: not for some time, because clocks of emulated machines on a busy host are not to be
 * trusted. All of them rest a lot, because they are to fill memory, not CPUs.
 */
#define _GNU_SOURCE /* readahead() */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB (1UL << 20)
#define PAGE 4096UL
#define LARGE_FILE (4 * MB)
#define READ_AHEAD (128UL << 10)
#define SMALL_FILES 16 /* of a directory */

static uint64_t seed;

static uint64_t chance(uint64_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % n;
}

static void rest(unsigned ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

static const char *end_file;

static bool is_over(void)
{
	return end_file && access(end_file, F_OK) == 0;
}

static void tell_full(void)
{
	puts("full");
	fflush(stdout);
}

static char *get(size_t bytes)
{
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "%zu MB", bytes / MB);
	return memory;
}

static void touch(char *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += PAGE)
		memory[at] = 1;
}

/* ---- files ---- */

static void write_file(const char *path, size_t bytes)
{
	static char block[256 << 10];
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file < 0)
		err(1, "%s", path);
	for (size_t done = 0, part; done < bytes; done += part) {
		part = bytes - done < sizeof(block) ? bytes - done : sizeof(block);
		if (write(file, block, part) != (ssize_t)part)
			err(1, "%s", path);
	}
	close(file);
}

static void read_file(const char *path)
{
	static char block[256 << 10];
	int file = open(path, O_RDONLY);

	while (file >= 0 && read(file, block, sizeof(block)) > 0)
		;
	if (file >= 0)
		close(file);
}

/* A file that is all hole: its pages are in the cache, and neither disk nor copying is in it. */
static void cache_hole(const char *path, size_t bytes)
{
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || ftruncate(file, bytes) < 0)
		err(1, "%s", path);
	/* One call reads no more than the device's own read-ahead. */
	for (size_t at = 0; at < bytes; at += READ_AHEAD)
		if (readahead(file, at, READ_AHEAD) < 0)
			err(1, "%s", path);
	close(file);
}

static void make_dir(const char *path)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		err(1, "%s", path);
}

/* Makes a directory of small files, looks at them, or removes them. */
static void small_files(const char *dir, unsigned number)
{
	char path[512];
	struct stat st;
	unsigned what = chance(4);

	snprintf(path, sizeof(path), "%s/d%u", dir, number);
	if (what)
		make_dir(path);
	for (unsigned i = 0; i < SMALL_FILES; i++) {
		snprintf(path, sizeof(path), "%s/d%u/%u", dir, number, i);
		if (!what)
			unlink(path);
		else if (stat(path, &st) < 0)
			write_file(path, 200 + chance(8000));
	}
	snprintf(path, sizeof(path), "%s/d%u", dir, number);
	if (!what)
		rmdir(path);
}

/* Fills the file cache with 'bytes', then goes on reading, writing and removing. */
static void churn_files(const char *dir, size_t bytes, unsigned pause)
{
	unsigned n = bytes / LARGE_FILE, n_dirs = bytes / MB / 4;
	char path[512];

	make_dir(dir);
	for (unsigned i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/f%u", dir, i);
		cache_hole(path, LARGE_FILE);
		if (n_dirs && i % 4 == 0)
			small_files(dir, chance(n_dirs));
	}
	tell_full();
	while (!is_over()) {
		snprintf(path, sizeof(path), "%s/f%u", dir, (unsigned)chance(n ? n : 1));
		if (chance(8))
			read_file(path);
		else
			write_file(path, LARGE_FILE / 4 + chance(LARGE_FILE * 3 / 4));
		if (n_dirs)
			small_files(dir, chance(n_dirs));
		rest(pause);
	}
}

/* ---- memory ---- */

/* Gets and gives back pieces of 4 KB to 2 MB, most of them small. */
static void churn_memory(size_t bytes)
{
	size_t n = bytes / (128 << 10), total = 0;
	char **pieces = calloc(n, sizeof(*pieces));
	size_t *sizes = calloc(n, sizeof(*sizes));

	if (!pieces || !sizes)
		err(1, "pieces");
	for (;;) {
		for (int i = 0; i < 64; i++) {
			size_t at = chance(n), size = (PAGE << chance(10));

			if (pieces[at]) {
				munmap(pieces[at], sizes[at]);
				total -= sizes[at];
				pieces[at] = NULL;
			}
			if (total + size > bytes)
				continue;
			pieces[at] = get(size);
			sizes[at] = size;
			touch(pieces[at], size);
			total += size;
		}
		rest(20);
	}
}

/* Processes come and go; each has page tables for much more than it uses. */
static void churn_processes(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			size_t bytes = 256 * MB;
			char *memory = get(bytes);

			madvise(memory, bytes, MADV_NOHUGEPAGE);
			for (size_t at = 0; at < bytes; at += 2 * MB)
				memory[at] = 1;
			rest(500 + chance(4000));
			_exit(0);
		}
		rest(100);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		seed++;
	}
}

static void start(void (*work)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	seed = 1;
	work();
	_exit(0);
}

static const char *system_dir;
static size_t system_bytes;

static void system_memory(void)
{
	churn_memory(system_bytes * 3 / 10);
}

static void system_files(void)
{
	churn_files(system_dir, system_bytes * 7 / 10, 20);
}

static void run_system(const char *go, const char *dir, size_t bytes)
{
	system_dir = dir;
	system_bytes = bytes;
	while (access(go, F_OK) < 0)
		rest(100);
	start(system_memory);
	start(system_files);
	start(churn_processes);
	for (;;)
		pause();
}

/* Whole numbers, because emulated machines are slow with others. */
static void run_stream(size_t bytes)
{
	size_t n = bytes / 3 / sizeof(uint64_t);
	uint64_t *a = (uint64_t *)get(n * sizeof(*a)), *b = (uint64_t *)get(n * sizeof(*b)),
		 *c = (uint64_t *)get(n * sizeof(*c));

	for (size_t i = 0; i < n; i++) {
		b[i] = i;
		c[i] = 2 * i;
	}
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + 3 * c[i];
	tell_full();
	for (size_t i = 0; !is_over(); i += 4096) {
		size_t at = i % (n - 4096);

		for (size_t j = at; j < at + 4096; j++) {
			a[j] = b[j] + 3 * c[j];
			if (a[j] != 7 * j)
				errx(1, "element %zu is %ju", j, (uintmax_t)a[j]);
		}
		rest(20);
	}
}

/* Pages of 4 KB, as a program has them that grows by little. */
static void run_stencil(size_t bytes)
{
	size_t width = 1024, rows = bytes / 2 / sizeof(float) / width;
	float *from = (float *)get(rows * width * sizeof(float));
	float *to = (float *)get(rows * width * sizeof(float));

	madvise(from, rows * width * sizeof(float), MADV_NOHUGEPAGE);
	madvise(to, rows * width * sizeof(float), MADV_NOHUGEPAGE);
	touch((char *)from, rows * width * sizeof(float));
	touch((char *)to, rows * width * sizeof(float));
	tell_full();
	for (size_t row = 0; !is_over(); row++) {
		size_t y = 1 + row % (rows - 2);

		for (size_t at = y * width + 1; at < (y + 1) * width - 1; at++)
			to[at] = 0.25f * (from[at - 1] + from[at + 1] + from[at - width] +
					  from[at + width]);
		rest(10);
	}
}

int main(int argc, char *argv[])
{
	const char *mode = argc > 1 ? argv[1] : "";

	seed = 1;
	if (strcmp(mode, "system") == 0 && argc == 5) {
		run_system(argv[2], argv[3], strtoul(argv[4], NULL, 10) * MB);
		return 0;
	}
	end_file = argc > 2 ? argv[2] : NULL;
	if (strcmp(mode, "stream") == 0 && argc == 4)
		run_stream(strtoul(argv[3], NULL, 10) * MB);
	else if (strcmp(mode, "stencil") == 0 && argc == 4)
		run_stencil(strtoul(argv[3], NULL, 10) * MB);
	else if (strcmp(mode, "files") == 0 && argc == 5)
		churn_files(argv[3], strtoul(argv[4], NULL, 10) * MB, 10);
	else
		errx(2, "usage: see the head of memory-load.c");
	return 0;
}
