/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/self, as the LWK process sees itself. Linux's /proc shows the proxy: name, ids and
 * files are the process's, memory and CPUs are not.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lwkexec/lwkexec.h"

#define KB(bytes) ((unsigned long long)(bytes) / 1024)

static const char *program_path;

void self_init(const struct program *program)
{
	const char *slash = strrchr(program->exec_path, '/');

	program_path = program->path;
	prctl(PR_SET_NAME, slash ? slash + 1 : program->exec_path);
}

/* What follows /proc/self/ or /proc/OUR-PID/ in a path, or NULL. */
static const char *below_self(const char *path)
{
	static const char *const names[] = { "/proc/self/", "/proc/thread-self/" };
	char ours[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0)
			return path + strlen(names[i]);
	snprintf(ours, sizeof(ours), "/proc/%d/", getpid());
	return strncmp(path, ours, strlen(ours)) == 0 ? path + strlen(ours) : NULL;
}

/* The calling thread's. */
static const struct lwk_cpu_status *own_cpu(void)
{
	return &session.status->cpu[own.index];
}

/* The process's. */
static const struct lwk_cpu_memory *own_memory(void)
{
	return &session.status->cpu[session.index].memory;
}

static uint64_t resident(void)
{
	const struct lwk_cpu_memory *memory = own_memory();

	return memory->pages_4k * 4096 + memory->pages_2m * (2UL << 20);
}

/* As a line of Linux's names it: with as many words, or more if need be. */
static void print_mask(FILE *out, const char *line, const struct numbers *set)
{
	size_t words = 1;

	for (const char *at = line; (at = strchr(at, ',')); at++)
		words++;
	for (size_t i = words; i < NUMBERS_WORDS; i++)
		if (set->words[i])
			words = i + 1;
	fprintf(out, "%.*s:\t", (int)(strchr(line, ':') - line), line);
	for (size_t i = words; i-- > 0;)
		fprintf(out, "%08x%s", i < NUMBERS_WORDS ? set->words[i] : 0, i ? "," : "\n");
}

static void print_list(FILE *out, const char *line, const struct numbers *set)
{
	const char *separator = "";

	fprintf(out, "%.*s:\t", (int)(strchr(line, ':') - line), line);
	for (size_t first = 0, next; first < NUMBERS; first = next + 1) {
		for (next = first; next < NUMBERS && numbers_have(set, next); next++)
			;
		if (next > first)
			fprintf(out, next > first + 1 ? "%s%zu-%zu" : "%s%zu", separator, first,
				next - 1);
		if (next > first)
			separator = ",";
	}
	fputc('\n', out);
}

/* Linux's text, with the lines replaced that are about memory and CPUs. */
static void print_status(FILE *out)
{
	FILE *in = fopen("/proc/self/status", "re");
	struct numbers cpus, nodes;
	bool nodes_known = view_nodes(&nodes);
	char line[512];

	session_cpus(&cpus);
	while (in && fgets(line, sizeof(line), in)) {
		if (strncmp(line, "VmPeak:", 7) == 0 || strncmp(line, "VmHWM:", 6) == 0)
			fprintf(out, "%.*s:\t%8llu kB\n", (int)(strchr(line, ':') - line), line,
				KB(own_memory()->peak_bytes));
		else if (strncmp(line, "VmSize:", 7) == 0 || strncmp(line, "VmRSS:", 6) == 0 ||
			 strncmp(line, "RssAnon:", 8) == 0)
			fprintf(out, "%.*s:\t%8llu kB\n", (int)(strchr(line, ':') - line), line,
				KB(resident()));
		else if (strncmp(line, "Vm", 2) == 0 || strncmp(line, "Rss", 3) == 0 ||
			 strncmp(line, "HugetlbPages:", 13) == 0)
			fprintf(out, "%.*s:\t%8d kB\n", (int)(strchr(line, ':') - line), line, 0);
		else if (strncmp(line, "Cpus_allowed:", 13) == 0)
			print_mask(out, line, &cpus);
		else if (strncmp(line, "Cpus_allowed_list:", 18) == 0)
			print_list(out, line, &cpus);
		else if (nodes_known && strncmp(line, "Mems_allowed:", 13) == 0)
			print_mask(out, line, &nodes);
		else if (nodes_known && strncmp(line, "Mems_allowed_list:", 18) == 0)
			print_list(out, line, &nodes);
		else
			fputs(line, out);
	}
	if (in)
		fclose(in);
}

static uint64_t sum(const __u64 *words, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += words[i];
	return total;
}

/* What all CPUs of the LWK have of the memory for processes. */
uint64_t self_lwk_used(void)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < session.status->n_slots && i < LWK_MAX_SLOTS; i++) {
		const struct lwk_cpu_memory *memory = &session.status->cpu[i].memory;

		for (size_t n = 0; n < LWK_STATUS_NODES; n++)
			bytes += memory->node[n].pages_4k * 4096 +
				 memory->node[n].pages_2m * (2UL << 20);
	}
	return bytes;
}

static uint64_t kernel_used(void)
{
	uint64_t bytes = session.status->kernel_used;

	for (uint32_t i = 0; i < session.status->n_slots && i < LWK_MAX_SLOTS; i++)
		bytes += session.status->cpu[i].memory.kernel_bytes;
	return bytes;
}

/* What only the LWK knows; the fields are those of lwkshared.h. */
static void print_lwk(FILE *out)
{
	const struct lwk_status *lwk = session.status;
	const struct lwk_cpu_status *cpu = own_cpu();
	const struct {
		const char *name;
		unsigned long long value;
	} facts[] = {
		{ "cpu", own.cpu },
		{ "cpu_index", own.index },
		{ "cpus", session.cpus },
		{ "interrupts", sum(cpu->interrupts, LWK_INTERRUPTS) },
		{ "doorbells", cpu->interrupts[LWK_INTERRUPT_DOORBELL] },
		{ "disturbances", cpu->disturbances },
		{ "local_calls", cpu->local_calls },
		{ "delegated_calls", sum(cpu->delegated_calls, LWK_CALL_KINDS) },
		{ "kernel_calls", channel_served() },
		{ "page_faults", cpu->faults },
		{ "pages_4k", own_memory()->pages_4k },
		{ "pages_2m", own_memory()->pages_2m },
		{ "peak_bytes", own_memory()->peak_bytes },
		{ "user_bytes", lwk->user_bytes },
		{ "user_free", lwk->user_bytes - self_lwk_used() },
		{ "kernel_bytes", lwk->kernel_bytes },
		{ "kernel_free", lwk->kernel_bytes - kernel_used() },
	};

	fprintf(out, "version %.*s\n", (int)sizeof(lwk->version), lwk->version);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		fprintf(out, "%s %llu\n", facts[i].name, facts[i].value);
}

int64_t self_file(const char *text, size_t length, int flags)
{
	int fd = memfd_create("proc", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

	if (fd < 0)
		return -ENOMEM;
	if (write(fd, text, length) != (ssize_t)length) {
		close(fd);
		return -ENOMEM;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static int64_t make_file(void (*print)(FILE *), int flags)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	int64_t result = -ENOMEM;

	if (!out)
		return -ENOMEM;
	print(out);
	if (fclose(out) == 0)
		result = self_file(text, length, flags);
	free(text);
	return result;
}

bool self_hides(const char *path)
{
	/* Linux's would be a lie: the memory, CPUs and limits of the proxy. */
	static const char *const names[] = { "smaps", "mem", "pagemap", "cgroup", "cpuset" };
	const char *name = below_self(path);

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool self_open(const char *path, int flags, int64_t *result)
{
	const char *name = below_self(path);
	int fd;

	if (!name)
		return false;
	if (strcmp(name, "status") == 0) {
		*result = make_file(print_status, flags);
	} else if (strcmp(name, "lwk") == 0) {
		*result = make_file(print_lwk, flags);
	} else if (strcmp(name, "maps") == 0) {
		*result = maps_known() ? make_file(maps_print, flags) : LWK_RESULT_AREAS;
	} else if (strcmp(name, "exe") == 0) {
		fd = open(program_path, flags & ~O_CREAT);
		*result = fd < 0 ? -errno : fd;
	} else {
		return false;
	}
	return true;
}

const char *self_exe(const char *path)
{
	const char *name = below_self(path);

	return name && strcmp(name, "exe") == 0 ? program_path : NULL;
}

bool self_readlink(const char *path, uint64_t buffer, uint64_t size, int64_t *result)
{
	size_t length = strlen(program_path);
	int ends[2];

	if (!self_exe(path))
		return false;
	if ((int64_t)size <= 0) {
		*result = -EINVAL;
		return true;
	}
	/* Through a pipe, so that Linux checks the pointer. */
	if (length > size)
		length = size;
	if (pipe2(ends, O_CLOEXEC)) {
		*result = -errno;
		return true;
	}
	*result = write(ends[1], program_path, length) == (ssize_t)length
			  ? read(ends[0], (void *)buffer, length)
			  : -1;
	if (*result < 0)
		*result = -errno;
	close(ends[0]);
	close(ends[1]);
	return true;
}
