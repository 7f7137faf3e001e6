// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl bench: what switching costs on this node, and what programs gain. */
#include <stdlib.h>

#include "lwkctl/bench/measure.h"
#include "lwkctl/bench/show.h"
#include "lwkctl/common.h"

enum { OPTION_CPUS = OPTION_OWN, OPTION_MEM, OPTION_IMAGE, OPTION_SECONDS, OPTION_SVG };

#define DEFAULT_ROUNDS 5
#define DEFAULT_SECONDS 10
#define MOST_SECONDS 3600

static struct {
	const char *cpus, *memory, *image, *seconds, *svg;
} given = { .image = "" };

static error_t parse(int key, char *text, struct argp_state *state)
{
	switch (key) {
	case OPTION_CPUS:
		given.cpus = text;
		return 0;
	case OPTION_MEM:
		given.memory = text;
		return 0;
	case OPTION_IMAGE:
		given.image = text;
		return 0;
	case OPTION_SECONDS:
		given.seconds = text;
		return 0;
	case OPTION_SVG:
		given.svg = text;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int read_numbers(const struct options *options, struct bench *bench)
{
	uint32_t number = DEFAULT_ROUNDS;
	char *end;

	if (options->count &&
	    (!parse_id(options->count, &number) || !number || number > BENCH_MOST_ROUNDS))
		return usage_error("--count: a number of switches, 1 to 100", options->count);
	bench->rounds = number;
	bench->seconds = DEFAULT_SECONDS;
	if (given.seconds) {
		bench->seconds = strtod(given.seconds, &end);
		if (*end || !(bench->seconds > 0 && bench->seconds <= MOST_SECONDS))
			return usage_error("--seconds: a time of 3600 s at most", given.seconds);
	}
	return EXIT_OK;
}

static int read_question(const struct options *options, struct bench *bench)
{
	struct ms_error err;

	if (!given.cpus || !given.memory)
		return usage_error("--cpus and --mem", given.cpus ? "no --mem" : "no --cpus");
	if (ms_parse_cpus(given.cpus, bench->cpus, &err) < 0 ||
	    ms_parse_size(given.memory, &bench->memory, &err) < 0)
		return usage_error("a list of CPUs and a size", err.text);
	bench->image = given.image;
	return read_numbers(options, bench);
}

static int show(const struct options *options, const struct bench *bench)
{
	struct ms_error err;

	if (given.svg && bench_write_svg(bench, given.svg, &err) < 0)
		return fail(&err);
	return options->json ? bench_show_json(bench) : bench_show_text(bench);
}

static int measure_and_show(const struct options *options, struct bench *bench)
{
	struct ms_config *config;
	struct ms_error err;
	int ret;

	if (ms_config_load(options->config, &config, &err) < 0)
		return fail(&err);
	ret = bench_measure(config, bench, &err);
	ms_config_free(config);
	return ret < 0 ? fail(&err) : show(options, bench);
}

static int run(const struct options *options)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	int ret = EXIT_FAILED;

	if (!bench)
		return ret;
	bench->cpus = hwloc_bitmap_alloc();
	bench->lwk_cpus = hwloc_bitmap_alloc();
	if (bench->cpus && bench->lwk_cpus) {
		ret = read_question(options, bench);
		if (ret == EXIT_OK)
			ret = measure_and_show(options, bench);
	}
	hwloc_bitmap_free(bench->cpus);
	hwloc_bitmap_free(bench->lwk_cpus);
	free(bench);
	return ret;
}

const struct verb verb_bench = {
	.name = "bench",
	.summary = "Measure switching and programs on this idle node (root)",
	.help = "Switches the CPUs and memory of a job that would have --cpus and --mem several times, runs a "
		"program on the LWK and on Linux, and prints the times of both. The node must be idle: "
		"drain it first. Root only.",
	.options =
		(const struct argp_option[]){
			OPTION("cpus", OPTION_CPUS, "LIST", "CPUs of the job"),
			OPTION("mem", OPTION_MEM, "SIZE", "Memory of the job, such as 4G"),
			OPTION("image", OPTION_IMAGE, "NAME",
			       "LWK image (default: the default image)"),
			COUNT_OPTION("Switches (default: 5)"),
			OPTION("seconds", OPTION_SECONDS, "S",
			       "Count disturbances so long (default: 10)"),
			OPTION("svg", OPTION_SVG, "FILE", "Draw the ratios, too"),
			CONFIG_OPTION,
			JSON_OPTION,
			{ 0 } },
	.parse = parse,
	.for_root = true,
	.run = run,
};
