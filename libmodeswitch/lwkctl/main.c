// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwkctl: what the administrator asks of libmodeswitch.
 */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "lwkctl/common.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/job.h"
#include "modeswitch/migrate.h"
#include "modeswitch/node.h"

struct verb {
	const char *name;
	int (*run)(const struct options *options);
	const char *letters; /* of the options that it takes; NULL: it reads all itself */
	bool for_root;
	int most_arguments;
	const char *usage;
	const char *help;
};

int fail(const struct ms_error *err)
{
	fprintf(stderr, "lwkctl: %s\n", err->text);
	return EXIT_FAILED;
}

int usage_error(const char *what, const char *found)
{
	fprintf(stderr, "lwkctl: wanted %s; found \"%s\"; see lwkctl --help\n", what, found);
	return EXIT_USAGE;
}

bool parse_id(const char *text, uint32_t *id)
{
	char rest;

	/* No sign, no blanks: sscanf() alone would take them. */
	return *text >= '0' && *text <= '9' && strlen(text) < 11 &&
	       sscanf(text, "%" SCNu32 "%c", id, &rest) == 1;
}

bool job_argument(const struct options *options, uint32_t *job_id)
{
	const char *found = options->n_arguments ? options->arguments[0] : "nothing";

	if (options->n_arguments && parse_id(found, job_id))
		return true;
	usage_error("a job, a number", found);
	return false;
}

bool interval_argument(const struct options *options, double *interval)
{
	char *end;

	if (!options->interval)
		return true;
	*interval = strtod(options->interval, &end);
	if (end != options->interval && !*end && *interval >= 0.001 && *interval <= 86400)
		return true;
	usage_error("--interval SECONDS, from 0.001 to 86400", options->interval);
	return false;
}

int print_json(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
	return EXIT_OK;
}

/* ---- status ---- */

static struct json_object *lent_to_json(const struct ms_lent *lent)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "kind", lent->is_cpu ? "cpu" : lent->is_blocks ? "blocks" : "run");
	json_add_number(object, "instance", lent->instance);
	json_add_number(object, "node", lent->node);
	if (lent->is_cpu) {
		json_add_number(object, "cpu", lent->cpu);
	} else {
		json_add_number(object, "start", lent->start);
		json_add_number(object, "bytes", lent->bytes);
	}
	return object;
}

static void print_warm(const struct ms_job *job)
{
	int64_t left = job->since + job->keep_warm - time(NULL);
	char cpus[256];

	hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job->lwk_cpus);
	printf("  CPUs %s and %ju MB of memory are kept for another LWK job, for %jd s\n", cpus,
	       (uintmax_t)(job->memory >> 20), (intmax_t)(left > 0 ? left : 0));
}

static void print_job(const struct ms_job *job)
{
	char cpus[256], linux_cpus[256], nodes[128], since[32], parts[512];
	time_t when = job->since;
	struct tm tm;

	strftime(since, sizeof(since), "%F %T", localtime_r(&when, &tm));
	printf("job %u of user %u: %s since %s\n", job->job_id, job->uid,
	       ms_job_state_word(job->state), since);
	if (job->state == MS_JOB_ACTIVE) {
		hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job->lwk_cpus);
		hwloc_bitmap_list_snprintf(linux_cpus, sizeof(linux_cpus), job->linux_cpus);
		hwloc_bitmap_list_snprintf(nodes, sizeof(nodes), job->nodes);
		ms_times_print(&job->times, parts, sizeof(parts));
		printf("  image %s (%s) as %s, switched in %u ms (%s)\n"
		       "  CPUs %s, with Linux %s\n"
		       "  memory %ju MB on NUMA nodes %s, %u run%s, the largest %ju MB\n",
		       job->image, job->driver, job->device, job->switch_on_ms, parts, cpus,
		       *linux_cpus ? linux_cpus : "none", (uintmax_t)(job->memory >> 20), nodes,
		       job->runs, job->runs == 1 ? "" : "s", (uintmax_t)(job->largest_run >> 20));
	}
	if (job->vacated)
		printf("  moved away for it: %ju MB of other programs' memory\n",
		       (uintmax_t)(job->vacated >> 20));
	if (job->state == MS_JOB_WARM)
		print_warm(job);
	if (job->state == MS_JOB_QUIET && !*job->reason) {
		hwloc_bitmap_list_snprintf(cpus, sizeof(cpus), job->linux_cpus);
		printf("  device interrupts are kept away from CPUs %s\n", cpus);
	}
	if (*job->reason)
		printf("  %s\n", job->reason);
}

static void print_lent(const struct ms_lent *lent, size_t n)
{
	size_t cpus = 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		cpus += lent[i].is_cpu;
		bytes += lent[i].bytes;
	}
	printf("lent in all: %zu CPUs, %ju MB of memory in %zu ranges\n", cpus,
	       (uintmax_t)(bytes >> 20), n - cpus);
}

static int run_status(const struct options *options)
{
	struct ms_lent *lent = NULL;
	struct ms_error err;
	struct ms_job *jobs;
	size_t n, n_lent = 0;

	if (ms_job_list(&jobs, &n, &err) < 0)
		return fail(&err);
	if (geteuid() == 0 && ms_ledger(&lent, &n_lent, &err) < 0) {
		ms_job_list_free(jobs, n);
		return fail(&err);
	}
	if (options->json) {
		struct json_object *object = json_object_new_object();
		struct json_object *job_array = json_object_new_array();
		struct json_object *lent_array = json_object_new_array();

		for (size_t i = 0; i < n; i++)
			json_object_array_add(job_array, ms_job_to_json(&jobs[i]));
		for (size_t i = 0; i < n_lent; i++)
			json_object_array_add(lent_array, lent_to_json(&lent[i]));
		json_object_object_add(object, "jobs", job_array);
		if (geteuid() == 0)
			json_object_object_add(object, "lent", lent_array);
		else
			json_object_put(lent_array);
		print_json(object);
	} else {
		for (size_t i = 0; i < n; i++)
			print_job(&jobs[i]);
		if (!n)
			puts("no LWK job is known on this node");
		if (geteuid() == 0)
			print_lent(lent, n_lent);
	}
	free(lent);
	ms_job_list_free(jobs, n);
	return EXIT_OK;
}

/* ---- check ---- */

static const char *const level_words[] = {
	[MS_FINE] = "fine", [MS_NOTE] = "note", [MS_PROBLEM] = "problem"
};

static void print_finding(const struct ms_finding *finding, void *context)
{
	printf("%-8s%-10s %s\n", level_words[finding->level], finding->subject, finding->text);
	if (finding->to_do)
		printf("%18s -> %s\n", "", finding->to_do);
}

static void collect_finding(const struct ms_finding *finding, void *context)
{
	struct json_object *object = json_object_new_object();

	json_add_text(object, "level", level_words[finding->level]);
	json_add_text(object, "subject", finding->subject);
	json_add_text(object, "text", finding->text);
	json_add_text(object, "to_do", finding->to_do ? finding->to_do : "");
	json_object_array_add(context, object);
}

static int run_check(const struct options *options)
{
	struct json_object *findings = json_object_new_array();
	int problems = ms_check(options->config, options->json ? collect_finding : print_finding,
				findings);

	if (options->json)
		print_json(findings);
	else
		json_object_put(findings);
	if (!options->json)
		printf("%d problem%s\n", problems, problems == 1 ? "" : "s");
	return problems ? EXIT_FAILED : EXIT_OK;
}

/* ---- reset ---- */

static void say(const char *line, void *context)
{
	puts(line);
	fflush(stdout);
	*(bool *)context = true;
}

static int run_reset(const struct options *options)
{
	uint32_t job_id = MS_ALL_JOBS;
	struct ms_error err;
	bool said = false;

	if (options->n_arguments && !parse_id(options->arguments[0], &job_id))
		return usage_error("a job, a number", options->arguments[0]);
	if (ms_reset(job_id, say, &said, &err) < 0)
		return fail(&err);
	if (!said)
		puts("nothing was lent");
	return EXIT_OK;
}

static int run_cool(const struct options *options)
{
	struct ms_error err;
	bool said = false;
	int64_t left;

	while (options->wait && (left = ms_warm_left()) > 0)
		sleep(left);
	if (ms_cool(options->wait, say, &said, &err) < 0)
		return fail(&err);
	if (!said)
		puts("nothing was warm");
	return EXIT_OK;
}

static int run_rehome(const struct options *options)
{
	struct ms_config *config;
	struct ms_error err;
	bool said = false;
	int ret;

	if (ms_config_load(options->config, &config, &err) < 0)
		return fail(&err);
	ret = ms_rehome(config, say, &said, &err);
	ms_config_free(config);
	if (ret < 0)
		return fail(&err);
	if (!said)
		puts("nothing was away");
	return EXIT_OK;
}

/* ---- the command line ---- */

static const struct verb verbs[] = {
	{ "status", run_status, "j", false, 0, "status [--json]",
	  "Tells which jobs of this node have, wanted or lost an LWK; root also sees what is lent." },
	{ "plan", run_plan, "CcmMnHtIjs", false, 0,
	  "plan --cpus LIST --mem SIZE [--lwk-mem SIZE|PERCENT|all]\n"
	  "              [--numa local|interleave|bind=NODES] [--hint HINT] [--image NAME]\n"
	  "              [--topology FILE.xml] [--json] [--svg FILE]",
	  "Tells and draws what a job with these CPUs and this memory would get here, or on the\n"
	  "machine that an hwloc XML file describes. Changes nothing." },
	{ "check", run_check, "Cj", false, 0, "check [--json]",
	  "Looks for what would break LWK jobs on this node, and tells what to do about it." },
	{ "prepare", run_prepare, "Cjud", true, 0,
	  "prepare [--undo | --dry-run] [--config FILE] [--json]",
	  "Keeps the memory of the NUMA nodes for jobs free of what cannot be moved, and interrupts\n"
	  "and services away from there; or undoes that. For early in boot:\n"
	  "systemctl enable slurm-lwk-prepare.service. Root." },
	{ "node", run_node, "Cj", true, 0, "node [--config FILE] [--json]",
	  "Tells what this node has lent to LWKs and could lend: CPUs, and for each NUMA node memory\n"
	  "by size of page, and its largest contiguous run. Root." },
	{ "list", run_list, "j", false, 0, "list [--json]",
	  "Lists the LWK instances of your jobs on this node; root sees all." },
	{ "info", run_info, "j", false, 1, "info JOB [--json]",
	  "Tells what a job's LWK has, what state it is in and since when." },
	{ "stat", run_stat, "ijN", false, 1, "stat JOB [--interval SECONDS [--count N]] [--json]",
	  "Prints what a job's LWK has done since it booted; then, each interval, since the line\n"
	  "before. The LWK is not interrupted for it." },
	{ "top", run_top, "i", false, 1, "top [JOB] [--interval SECONDS]",
	  "Shows what your jobs' LWKs do, live: for each CPU a bar of its time in programs (|), in\n"
	  "the LWK (+) and waiting for calls delegated to Linux (d). q quits. Root sees all." },
	{ "irqs", run_irqs, "WiNj", false, 1,
	  "irqs [JOB] [--watch] [--interval SECONDS] [--count N] [--json]",
	  "Tells how many interrupts a second come to which CPU and from where, from boot on; or in\n"
	  "the next seconds; or, with --watch, again and again. With JOB, which has an LWK or\n"
	  "--quiet-irqs, also the least, most and mean of its CPUs, before and now; an LWK counts its\n"
	  "own." },
	{ "counters", run_counters, "j", false, INT_MAX,
	  "counters JOB [read [--json] | set EVENT... | start | stop | remove]",
	  "Counts events on each CPU of a job's LWK: cycles, instructions and other hardware\n"
	  "counters, where there are such, and page-faults, interrupts, delegated-calls and others\n"
	  "everywhere. lwkctl(8) has their names." },
	{ "quiet", run_quiet, "i", true, 0, "quiet [--interval SECONDS]",
	  "Keeps device interrupts away from the CPUs of jobs with --quiet-irqs, until there are none.\n"
	  "Such jobs start it themselves. Root." },
	{ "metrics", run_metrics, "", true, 0, "metrics",
	  "Prints the statistics of all LWKs in Prometheus' text format. Root." },
	{ "kmsg", run_kmsg, "f", false, 1, "kmsg JOB|INSTANCE [--follow]",
	  "Prints the console text of a job's LWK, or, for root, of an instance by its number." },
	{ "events", run_events, "", false, 1, "events JOB",
	  "Prints a line whenever something happens to a job's LWK, until the job ends." },
	{ "freeze", run_freeze, "", false, 1, "freeze JOB",
	  "Makes the programs of a job's LWK stand still, and its CPUs halt." },
	{ "thaw", run_thaw, "", false, 1, "thaw JOB", "Lets them go on." },
	{ "dump", run_dump, "", true, 2, "dump JOB FILE",
	  "Writes the memory of a job's LWK's kernel to a new FILE, for gdb and the LWK's ELF file.\n"
	  "Root." },
	{ "reset", run_reset, "", true, 1, "reset [JOB]",
	  "Gives back what a job's LWK has, at once, whether it runs or not; without JOB that of\n"
	  "all jobs and whatever else is lent. Root." },
	{ "cool", run_cool, "w", true, 0, "cool [--wait]",
	  "Gives back what is kept warm for another LWK job (KeepWarm=), at once; with --wait when\n"
	  "its time is over and no job has taken it. Root." },
	{ "rehome", run_rehome, "C", true, 0, "rehome [--config FILE]",
	  "Brings memory of Linux jobs home that LWK jobs had pushed to other NUMA nodes, within\n"
	  "RehomeCpu= and RehomeRate=. Ends of LWK jobs start it themselves. Root." },
	{ "migrate", run_migrate, NULL, false, 0,
	  "migrate (--pid P | --job J | --cgroup PATH) --from NODES --to NODES\n"
	  "              [--method periodical|severe|mild|adaptive] [--pages N] [--sleep MS]\n"
	  "              [--cpu-limit PERCENT] [--bandwidth MB/s] [--dry-run] [--json]\n"
	  "  lwkctl migrate --calibrate --from NODES --to NODES [--memory SIZE]\n"
	  "              [--cpu-limit PERCENT] [--picture FILE.svg|FILE.png] [--json]",
	  "Moves memory of running programs between NUMA nodes, slowly enough that nobody\n"
	  "notices, what is in use first. Root, or the programs' user." },
};
#define N_VERBS (sizeof(verbs) / sizeof(*verbs))

static int print_help(const struct verb *verb)
{
	if (verb) {
		printf("Usage: lwkctl %s\n\n%s\n", verb->usage, verb->help);
		return EXIT_OK;
	}
	puts("Usage: lwkctl VERB [OPTION]...\n");
	for (size_t i = 0; i < N_VERBS; i++)
		printf("  lwkctl %s\n", verbs[i].usage);
	puts("\nlwkctl VERB --help tells more; so does lwkctl(8). plan, check, prepare and node take\n--config FILE.\n"
	     "Exit status: 0 done and all well, 1 failed or problems found, 2 bad command line.");
	return EXIT_OK;
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
	static const struct option known[] = {
		{ "config", required_argument, NULL, 'C' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "mem", required_argument, NULL, 'm' },
		{ "lwk-mem", required_argument, NULL, 'M' },
		{ "numa", required_argument, NULL, 'n' },
		{ "hint", required_argument, NULL, 'H' },
		{ "svg", required_argument, NULL, 's' },
		{ "topology", required_argument, NULL, 't' },
		{ "image", required_argument, NULL, 'I' },
		{ "interval", required_argument, NULL, 'i' },
		{ "count", required_argument, NULL, 'N' },
		{ "follow", no_argument, NULL, 'f' },
		{ "watch", no_argument, NULL, 'W' },
		{ "json", no_argument, NULL, 'j' },
		{ "wait", no_argument, NULL, 'w' },
		{ "undo", no_argument, NULL, 'u' },
		{ "dry-run", no_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options options = { .config = MS_CONFIG_PATH };
	int letter;

	if (!verb->letters) {
		options.arguments = argv;
		options.n_arguments = argc;
		letter = verb->run(&options);
		return letter == SHOW_HELP ? print_help(verb) : letter;
	}
	opterr = 0;
	while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		if (letter == 'h')
			return print_help(verb);
		if (letter == '?' || !strchr(verb->letters, letter))
			return usage_error(verb->usage, argv[optind - 1]);
		switch (letter) {
		case 'C':
			options.config = optarg;
			break;
		case 'c':
			options.cpus = optarg;
			break;
		case 'm':
			options.memory = optarg;
			break;
		case 'M':
			options.lwk_memory = optarg;
			break;
		case 'n':
			options.numa = optarg;
			break;
		case 'H':
			options.hint = optarg;
			break;
		case 's':
			options.svg = optarg;
			break;
		case 't':
			options.topology = optarg;
			break;
		case 'I':
			options.image = optarg;
			break;
		case 'i':
			options.interval = optarg;
			break;
		case 'N':
			options.count = optarg;
			break;
		case 'W':
			options.watch = true;
			break;
		case 'f':
			options.follow = true;
			break;
		case 'j':
			options.json = true;
			break;
		case 'w':
			options.wait = true;
			break;
		case 'u':
			options.undo = true;
			break;
		case 'd':
			options.dry_run = true;
			break;
		}
	}
	options.arguments = argv + optind;
	options.n_arguments = argc - optind;
	if (options.n_arguments > verb->most_arguments)
		return usage_error(verb->usage, argv[optind + verb->most_arguments]);
	if (verb->for_root && geteuid() != 0) {
		fprintf(stderr, "lwkctl: %s wanted to run as root; found user %u; use sudo\n",
			verb->name, geteuid());
		return EXIT_FAILED;
	}
	return verb->run(&options);
}

int main(int argc, char **argv)
{
	const struct verb *verb;

	setlocale(LC_CTYPE, "");
	if (argc < 2)
		return usage_error("a verb", "nothing");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return print_help(NULL);
	verb = find_verb(argv[1]);
	if (!verb)
		return usage_error("a verb", argv[1]);
	return run_verb(verb, argc - 1, argv + 1);
}
