// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures a switch by Linux itself: the same CPUs and memory, off-line and on-line again by
 * one write or ioctl each, one after the other, and nothing else.
 *   raw-switch CPUS BLOCKS RUNS
 * CPUS "5,6"; BLOCKS "40:online_movable,41:online_kernel", how each comes back; RUNS, of
 * contiguous memory, "2097152@1", bytes and NUMA node; "" for none. Prints the microseconds, and
 * exits with 1 when Linux would not do one of them.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "abi/lwkpart.h"

#define MOST 1024

struct block {
	unsigned number;
	char online[32];
};

static unsigned cpus[MOST];
static struct block blocks[MOST];
static struct lwkpart_mem runs[MOST];
static size_t n_cpus, n_blocks, n_runs;
static int dev;

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void parse(char *const argv[])
{
	for (char *word = strtok(argv[1], ","); word && n_cpus < MOST; word = strtok(NULL, ","))
		cpus[n_cpus++] = strtoul(word, NULL, 10);
	for (char *word = strtok(argv[2], ","); word && n_blocks < MOST; word = strtok(NULL, ",")) {
		struct block *block = &blocks[n_blocks++];

		if (sscanf(word, "%u:%31s", &block->number, block->online) != 2)
			exit(2);
	}
	for (char *word = strtok(argv[3], ","); word && n_runs < MOST; word = strtok(NULL, ",")) {
		struct lwkpart_mem *run = &runs[n_runs++];
		unsigned long bytes;

		if (sscanf(word, "%lu@%u", &bytes, &run->node) != 2)
			exit(2);
		run->size = bytes;
		run->kind = LWKPART_MEM_CONTIG;
	}
}

static void check(int result, const char *what, unsigned number)
{
	if (result >= 0)
		return;
	fprintf(stderr, "raw-switch: %s %u: %m\n", what, number);
	exit(1);
}

static void put(const char *text, const char *format, unsigned number)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), format, number);
	fd = open(path, O_WRONLY);
	check(fd, path, number);
	check(write(fd, text, strlen(text)), path, number);
	close(fd);
}

static void cpus_to(const char *state)
{
	for (size_t i = 0; i < n_cpus; i++)
		put(state, "/sys/devices/system/cpu/cpu%u/online", cpus[i]);
}

static void blocks_offline(void)
{
	for (size_t i = 0; i < n_blocks; i++)
		put("offline", "/sys/devices/system/memory/memory%u/state", blocks[i].number);
}

/*
 * The last first, as a switch does. Linux fills first what came back first, so the other order
 * would fill the block that goes next, and its pages would be moved from block to block.
 */
static void blocks_online(void)
{
	for (size_t i = n_blocks; i-- > 0;)
		put(blocks[i].online, "/sys/devices/system/memory/memory%u/state",
		    blocks[i].number);
}

static void runs_to(unsigned long request)
{
	for (size_t i = 0; i < n_runs; i++)
		check(ioctl(dev, request, &runs[i]), "run", i);
}

/* Returns the microseconds since *start, and sets *start to now. */
static int64_t lap(int64_t *start)
{
	int64_t now = now_us(), passed = now - *start;

	*start = now;
	return passed;
}

int main(int argc, char *argv[])
{
	int64_t start, cpu_off, block_off, run_off, cpu_on, block_on, run_on;

	if (argc != 4)
		return 2;
	parse(argv);
	dev = open(LWKPART_DEVICE, O_RDWR);
	check(dev, LWKPART_DEVICE, 0);
	start = now_us();
	cpus_to("0");
	cpu_off = lap(&start);
	blocks_offline();
	block_off = lap(&start);
	runs_to(LWKPART_LEND_MEM);
	run_off = lap(&start);
	runs_to(LWKPART_RETURN_MEM);
	run_on = lap(&start);
	blocks_online();
	block_on = lap(&start);
	cpus_to("1");
	cpu_on = lap(&start);
	printf("{\"cpu_off\":%jd,\"block_off\":%jd,\"run_off\":%jd,"
	       "\"cpu_on\":%jd,\"block_on\":%jd,\"run_on\":%jd}\n",
	       (intmax_t)cpu_off, (intmax_t)block_off, (intmax_t)run_off, (intmax_t)cpu_on,
	       (intmax_t)block_on, (intmax_t)run_on);
	return 0;
}
