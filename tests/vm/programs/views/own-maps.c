/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own-maps: checks that /proc/self/maps lists text, heap, stacks, files with their offsets, shared
 * and protected areas, for the first thread, another one, and a child; and that glibc finds the
 * bounds of the first thread's stack there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define PAGE 4096UL

struct line {
	unsigned long start, end, offset, inode;
	unsigned int major, minor;
	char prot[5], name[256];
};

/* The line about that address, or NULL. */
static const struct line *find(const char *path, const void *at)
{
	static _Thread_local struct line line;
	FILE *file = fopen(path, "r");
	unsigned long before = 0;
	char text[512];

	while (file && fgets(text, sizeof(text), file)) {
		line.name[0] = '\0';
		if (sscanf(text, "%lx-%lx %4s %lx %x:%x %lu %255[^\n]", &line.start, &line.end,
			   line.prot, &line.offset, &line.major, &line.minor, &line.inode,
			   line.name) < 7 ||
		    line.start < before || line.end <= line.start)
			break;
		before = line.end;
		if (line.start <= (uintptr_t)at && (uintptr_t)at < line.end) {
			fclose(file);
			return &line;
		}
	}
	if (file)
		fclose(file);
	return NULL;
}

static bool is(const char *path, const void *at, const char *prot, const char *name)
{
	const struct line *line = find(path, at);

	if (line && strcmp(line->prot, prot) == 0 && strcmp(line->name, name) == 0)
		return true;
	printf("expected %s '%s', found %s '%s'\n", prot, name, line ? line->prot : "nothing",
	       line ? line->name : "");
	return false;
}

static char data[] = "data";

static int check_program(const char *path)
{
	char exe[256] = "";
	void *heap = malloc(100);
	int local;

	CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	CHECK(is(path, (void *)check_program, "r-xp", exe));
	CHECK(is(path, data, "rw-p", exe));
	CHECK(is(path, "constant", "r--p", exe));
	/* Heap and stack of other threads are in arenas and mappings of glibc. */
	if (syscall(SYS_gettid) == getpid()) {
		CHECK(is(path, heap, "rw-p", "[heap]"));
		CHECK(is(path, &local, "rw-p", "[stack]"));
	}
	free(heap);
	return 0;
}

static int check_mappings(void)
{
	int fd = memfd_create("example", 0), file = open("/etc/passwd", O_RDONLY);
	char *private, *shared, *none;
	const struct line *line;
	struct stat st;

	CHECK(fd >= 0 && ftruncate(fd, 4 * PAGE) == 0 && file >= 0);
	private = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(private != MAP_FAILED && shared != MAP_FAILED && none != MAP_FAILED);
	CHECK(is("/proc/self/maps", private, "rw-p", "/memfd:example (deleted)"));
	CHECK(is("/proc/self/maps", shared, "rw-s", "/memfd:example (deleted)"));
	CHECK(is("/proc/self/maps", none, "---p", ""));
	CHECK(mprotect(private + PAGE, PAGE, PROT_READ) == 0);
	line = find("/proc/self/maps", private + PAGE);
	CHECK(line && line->offset == 2 * PAGE && strcmp(line->prot, "r--p") == 0);
	CHECK(line->start == (uintptr_t)private + PAGE && line->end == line->start + PAGE);
	CHECK(fstat(fd, &st) == 0 && line->inode == st.st_ino);
	CHECK(munmap(private, PAGE) == 0);
	CHECK(!find("/proc/self/maps", private));
	CHECK(close(fd) == 0);
	private = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 0);
	CHECK(private != MAP_FAILED && is("/proc/self/maps", private, "r--p", "/etc/passwd"));
	return 0;
}

/* Checks that a library is where it says, and that /proc/self/maps has its name. */
static int check_library(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct line *line = find("/proc/self/maps", (void *)info->dlpi_phdr);
	char *real = realpath(info->dlpi_name, NULL);
	bool wrong = info->dlpi_name[0] == '/' && !(line && real && strcmp(line->name, real) == 0);

	(void)size;
	(void)data;
	if (wrong)
		printf("expected %s, found %s\n", real, line ? line->name : "nothing");
	free(real);
	return wrong;
}

static int check_stack(void)
{
	pthread_attr_t attributes;
	char *start, local;
	size_t size;

	CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
	CHECK(pthread_attr_getstack(&attributes, (void **)&start, &size) == 0);
	CHECK(start <= &local && &local < start + size && size >= 128 << 10);
	pthread_attr_destroy(&attributes);
	return 0;
}

static void *thread(void *path)
{
	return (void *)(long)(check_stack() || check_program(path));
}

int main(void)
{
	char path[64];
	pthread_t other;
	void *wrong;
	int status;
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/maps", getpid());
	CHECK(check_stack() == 0);
	CHECK(check_program("/proc/self/maps") == 0 && check_program(path) == 0);
	CHECK(check_mappings() == 0);
	CHECK(is(path, (void *)getauxval(AT_SYSINFO_EHDR), "r-xp", "[vdso]"));
	CHECK(dl_iterate_phdr(check_library, NULL) == 0);
	CHECK(pthread_create(&other, NULL, thread, path) == 0);
	CHECK(pthread_join(other, &wrong) == 0 && !wrong);
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
		_exit(check_program("/proc/self/maps") || check_mappings() || check_stack());
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	puts("all as it says");
	return 0;
}
