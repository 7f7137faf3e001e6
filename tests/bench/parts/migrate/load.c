// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose memory is migrated: it fills memory on one NUMA node and uses it from
 * the CPUs of another, in a known way, and tells how much of its use is local.
 *
 *	migrate-load MEGABYTES FROM TO still|half|zipf|moving small|huge
 *
 *	still   uses nothing
 *	half    every other page, all alike
 *	zipf    all pages, the k-th hottest k^-1.2 times as often as the hottest
 *	moving  a quarter of the pages, which moves on by half its size every 3 s
 *
 * "small" and "huge" are the pages it asks for. Prints "ready PID", then several times a
 * second "MS LOCAL ACCESSES": milliseconds of CLOCK_MONOTONIC, the share of the accesses
 * since the last line that went to node TO, and their number.
 */
#include <inttypes.h>
#include <math.h>
#include <numa.h>
#include <numaif.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SMALL_PAGE 4096UL
#define HUGE_PAGE (2UL << 20)
#define ZIPF_EXPONENT 1.2
#define MOVE_MS 3000
#define REPORT_MS 100
#define SAMPLES 1000
/*
 * Work and rest in turns: the emulated CPUs share few real ones, and each page that moves
 * while its program runs needs an answer from that CPU.
 */
#define BURST 8000
#define BURST_SAMPLES 40
#define REST_US 10000

static char *memory;
static size_t unit, n_units; /* what is hot or not: a page */
static unsigned from, to;
static uint64_t random_state = 88172645463325252ULL;
static double *alias_limit;
static uint32_t *alias;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static double random_unit(void)
{
	return (next_random() >> 11) * 0x1p-53;
}

static int64_t now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Walker's alias method: any distribution in constant time. */
static void prepare_zipf(void)
{
	uint32_t *small = calloc(n_units, sizeof(*small)), *large = calloc(n_units, sizeof(*large));
	size_t n_small = 0, n_large = 0;
	double sum = 0;

	alias_limit = calloc(n_units, sizeof(*alias_limit));
	alias = calloc(n_units, sizeof(*alias));
	if (!small || !large || !alias_limit || !alias)
		die("calloc");
	for (size_t i = 0; i < n_units; i++)
		sum += pow(i + 1, -ZIPF_EXPONENT);
	for (size_t i = 0; i < n_units; i++) {
		alias_limit[i] = pow(i + 1, -ZIPF_EXPONENT) / sum * n_units;
		if (alias_limit[i] < 1)
			small[n_small++] = i;
		else
			large[n_large++] = i;
	}
	while (n_small && n_large) {
		uint32_t less = small[--n_small], more = large[--n_large];

		alias[less] = more;
		alias_limit[more] -= 1 - alias_limit[less];
		if (alias_limit[more] < 1)
			small[n_small++] = more;
		else
			large[n_large++] = more;
	}
	while (n_large)
		alias_limit[large[--n_large]] = 1;
	while (n_small)
		alias_limit[small[--n_small]] = 1;
	free(small);
	free(large);
}

/* Separates the order of units from that of addresses: a large prime permutes their numbers. */
static size_t scatter(size_t place)
{
	return place * 2654435761UL % n_units;
}

static size_t choose_half(int64_t ms)
{
	static size_t at;

	/* The units come one after the other, but not in the order of their addresses. */
	at += 7919;
	return at % (n_units / 2) * 2;
}

static size_t choose_zipf(int64_t ms)
{
	size_t rank = next_random() % n_units;

	if (random_unit() >= alias_limit[rank])
		rank = alias[rank];
	return scatter(rank);
}

static size_t choose_moving(int64_t ms)
{
	size_t hot = n_units / 4, place;

	place = (ms / MOVE_MS * (hot / 2) + next_random() % hot) % n_units;
	return scatter(place);
}

static const struct {
	const char *name;
	size_t (*choose)(int64_t ms);
} patterns[] = {
	{ "still", NULL },
	{ "half", choose_half },
	{ "zipf", choose_zipf },
	{ "moving", choose_moving },
};

/* The share of the sampled accesses that was to node 'to'. */
static double local_share(void **samples, size_t n)
{
	int status[SAMPLES];
	size_t local = 0;

	if (!n || move_pages(0, n, samples, NULL, status, 0) < 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		local += status[i] == (int)to;
	return (double)local / n;
}

static void use(size_t (*choose)(int64_t ms))
{
	int64_t start = now_us() / 1000, report = start, now;
	uint64_t accesses = 0;
	void *samples[SAMPLES];
	size_t n = 0;

	for (;;) {
		now = now_us() / 1000;
		for (int i = 0; i < BURST; i++) {
			char *page = memory + choose(now - start) * unit;
			volatile uint64_t *word =
				(uint64_t *)(page + (next_random() % (unit / 8)) * 8);

			*word += 1;
			if (next_random() % (BURST / BURST_SAMPLES) == 0 && n < SAMPLES)
				samples[n++] = (void *)((uintptr_t)word & ~(SMALL_PAGE - 1));
		}
		accesses += BURST;
		if (now - report >= REPORT_MS) {
			printf("%jd %.4f %ju\n", (intmax_t)now, local_share(samples, n),
			       (uintmax_t)accesses);
			fflush(stdout);
			report = now;
			accesses = n = 0;
		}
		usleep(REST_US);
	}
}

int main(int argc, char **argv)
{
	size_t bytes, pattern = 0;
	bool huge;

	if (argc != 6) {
		fprintf(stderr, "usage: migrate-load MEGABYTES FROM TO PATTERN small|huge\n");
		return 2;
	}
	bytes = strtoul(argv[1], NULL, 10) << 20;
	from = atoi(argv[2]);
	to = atoi(argv[3]);
	while (pattern < 4 && strcmp(patterns[pattern].name, argv[4]) != 0)
		pattern++;
	huge = strcmp(argv[5], "huge") == 0;
	if (pattern == 4 || bytes < 4 * HUGE_PAGE)
		return 2;
	unit = huge ? HUGE_PAGE : SMALL_PAGE;
	n_units = bytes / unit;

	if (numa_run_on_node(to) < 0)
		die("numa_run_on_node");
	memory = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	memory = (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	/*
	 * The policy holds only for these pages, as if the program had run there when it made them.
	 */
	numa_set_preferred(from);
	memset(memory, 1, bytes);
	set_mempolicy(MPOL_DEFAULT, NULL, 0);
	if (patterns[pattern].choose == choose_zipf)
		prepare_zipf();
	printf("ready %d\n", getpid());
	fflush(stdout);
	if (!patterns[pattern].choose)
		pause();
	use(patterns[pattern].choose);
}
