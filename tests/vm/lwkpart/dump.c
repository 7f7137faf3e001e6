// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests KMSG and DUMP of an LWK that runs, and of one that does not tell its registers.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi.h"

/* DUMP_LAYOUT waits at least so long for registers that do not come. */
#define DUMP_WAITS_MS 1000

void test_kmsg(__u32 instance)
{
	char text[4096];
	struct lwkpart_kmsg request = { .instance = instance,
					.buffer = (unsigned long)text,
					.capacity = 1 };
	__u64 position;

	check(!call(LWKPART_KMSG, &request) && request.length == 1 && request.position == 1,
	      "KMSG gives one byte when asked for one");
	request.capacity = sizeof(text);
	check(!call(LWKPART_KMSG, &request) && request.length > 0 &&
		      request.position == 1 + request.length,
	      "KMSG goes on where it ended");
	position = request.position = -1UL;
	check(!call(LWKPART_KMSG, &request) && request.length == 0 && request.position < position,
	      "KMSG from beyond the end gives nothing");
	request.position = 0;
	request.buffer = 0;
	check_result(call(LWKPART_KMSG, &request), EFAULT, "KMSG to nowhere");
}

void test_dump(__u32 instance)
{
	static struct lwk_boot_params params;
	static char again[4096];
	struct lwkpart_dump_layout layout = { .instance = instance, .job_id = JOB };
	struct lwkpart_dump request = { .instance = instance,
					.job_id = JOB,
					.buffer = (unsigned long)&params,
					.size = sizeof(params) };
	bool inside = true;
	__u32 i;

	check_result(call(LWKPART_DUMP_LAYOUT, &layout), 0, "DUMP_LAYOUT");
	for (i = 0; i < layout.count; i++)
		inside &= layout.segments[i].address >= LWK_IMAGE_BASE &&
			  layout.segments[i].start >= layout.start &&
			  layout.segments[i].start + layout.segments[i].size <=
				  layout.start + layout.bytes;
	check(layout.count >= 2 && inside, "it tells the image's segments, in that memory");
	check(!call(LWKPART_DUMP, &request) && request.size == sizeof(params) &&
		      params.magic == LWK_SHARED_MAGIC && params.job_id == JOB &&
		      params.reserve_start == layout.start && layout.bytes <= params.reserve_size &&
		      layout.bytes > params.reserve_used,
	      "DUMP copies the beginning: its boot parameters, and what it uses is more");
	request.offset = layout.bytes - 512;
	request.size = sizeof(again);
	request.buffer = (unsigned long)again;
	check(!call(LWKPART_DUMP, &request) && request.size == 512, "DUMP ends at the end");
	request.offset = -1UL;
	request.size = 1;
	check(!call(LWKPART_DUMP, &request) && request.size == 0, "DUMP from beyond the end");
	request.offset = 0;
	request.size = 1;
	request.buffer = 0;
	check_result(call(LWKPART_DUMP, &request), EFAULT, "DUMP to nowhere");
	request.job_id = layout.job_id = JOB + 1;
	check_result(call(LWKPART_DUMP, &request), ENOENT, "DUMP for another job");
	check_result(call(LWKPART_DUMP_LAYOUT, &layout), ENOENT, "DUMP_LAYOUT for another job");
}

/* True when the process sleeps in lwkpart.ko, as it does while it waits for registers. */
static bool waits_for_registers(pid_t pid)
{
	char path[32], text[4096];
	size_t length = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	file = fopen(path, "r");
	if (file) {
		length = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	text[length] = 0;
	return strstr(text, "msleep") && strstr(text, "dump_layout");
}

static bool is_over(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* True when others' requests are carried out while a dump of the instance waits. */
static bool others_go_on_during_dump(__u32 instance)
{
	struct lwkpart_dump_layout layout = { .instance = instance, .job_id = JOB };
	long start = now_ms();
	pid_t child = fork();
	bool answered;
	int status;
	__u32 other;

	if (child == 0)
		_exit(call(LWKPART_DUMP_LAYOUT, &layout));
	while (!waits_for_registers(child) && !is_over(child))
		;
	answered = !is_over(child) && has_state(instance, LWK_STATE_PANIC) && !create(&other) &&
		   !destroy(other) && now_ms() - start < DUMP_WAITS_MS;
	check_result(destroy(instance), 0, "DESTROY of an LWK that is being dumped");
	check(waitpid(child, &status, 0) == child && status == 0, "the dump goes on to its end");
	return answered;
}

void test_long_dump(const struct partition *partition)
{
	struct image silent = make_image(silent_lwk, silent_lwk_end);
	bool answered = false;
	unsigned int tries;
	__u32 instance;

	/* A busy machine may not get to the other requests in that time. */
	for (tries = 0; tries < 5 && !answered; tries++) {
		if (!check(!create(&instance) && !assign_cpu(instance, cpu_a) &&
				   !assign_memory(instance, partition->contig, CONTIG_BYTES) &&
				   !load(instance, &silent, sizeof(silent)) &&
				   boot(instance, 10000) == EIO,
			   "an LWK panics that does not tell its registers"))
			return;
		answered = others_go_on_during_dump(instance);
	}
	check(answered, "instances are created and looked at while another one is being dumped");
}
