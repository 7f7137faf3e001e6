// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what would break LWK jobs on this node before a job meets it.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <unistd.h>

#include "driver.h"
#include "files.h"
#include "image.h"
#include "memory.h"
#include "modeswitch.h"
#include "process.h"
#include "state.h"

#define SCONTROL "/usr/bin/scontrol"
#define TOOL_MS 20000

struct checking {
	void (*hear)(const struct ms_finding *finding, void *context);
	void *context;
	int problems;
	struct ms_config *config; /* NULL: it is not valid */
	char *slurm;		  /* "scontrol show config"; NULL: it does not answer */
	char *node;		  /* "scontrol show node" of this one; NULL: likewise */
};

/* What is the matter with one subject, and what to do; 'to_do' is NULL when all is well. */
static void find(struct checking *checking, int level, const char *subject, const char *to_do,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
static void find(struct checking *checking, int level, const char *subject, const char *to_do,
		 const char *format, ...)
{
	char text[1500];
	struct ms_finding finding = {
		.level = level, .subject = subject, .text = text, .to_do = to_do
	};
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	checking->problems += level == MS_PROBLEM;
	checking->hear(&finding, checking->context);
}

static void check_config(struct checking *checking, const char *path)
{
	struct ms_error err;

	if (ms_config_load(path, &checking->config, &err) < 0)
		find(checking, MS_PROBLEM, "config",
		     "correct it; lwk.conf(5) tells what it may say", "%s", err.text);
	else
		find(checking, MS_FINE, "config", NULL, "%s is valid, with %zu image%s", path,
		     checking->config->n_images, checking->config->n_images == 1 ? "" : "s");
}

static void check_images(struct checking *checking)
{
	struct ms_error err;
	size_t size;
	void *data;

	for (size_t i = 0; checking->config && i < checking->config->n_images; i++) {
		const struct ms_image *image = &checking->config->images[i];

		if (image_read(image, &data, &size, &err) < 0) {
			find(checking, MS_PROBLEM, "image",
			     "install it, or correct Path= in lwk.conf", "%s", err.text);
			continue;
		}
		free(data);
		find(checking, MS_FINE, "image", NULL, "%s: %s, %zu KB", image->name, image->path,
		     size >> 10);
	}
}

static void check_module(struct checking *checking, const struct driver *driver)
{
	const char *const argv[] = { "/sbin/modprobe", "--dry-run", driver->module, NULL };
	char output[512], path[64];
	struct ms_error err;
	int dev, status;

	snprintf(path, sizeof(path), "/sys/module/%s", driver->module);
	dev = driver->open(&err);
	if (dev >= 0) {
		driver->close(dev);
		find(checking, MS_FINE, "module", NULL, "%s is loaded", driver->module);
		return;
	}
	if (dev == -EACCES && access(path, F_OK) == 0) {
		find(checking, MS_NOTE, "module",
		     "run 'lwkctl check' as root to see whether it is the "
		     "right one",
		     "%s is loaded", driver->module);
		return;
	}
	if (dev != -ENOENT) {
		find(checking, MS_PROBLEM, "module", "see the end of 'dmesg'", "%s", err.text);
		return;
	}
	status = process_run(argv, clock_ms() + TOOL_MS, output, sizeof(output));
	if (status == 0)
		find(checking, MS_FINE, "module", NULL, "%s is found; the first LWK job loads it",
		     driver->module);
	else
		find(checking, MS_PROBLEM, "module",
		     "install it for the kernel that runs ('uname -r') and run depmod",
		     "%s cannot be loaded: %s", driver->module,
		     status < 0 ? strerror(-status) : output);
}

/* ---- what Slurm says of itself ---- */

static char *ask_scontrol(const char *what, const char *name)
{
	const char *const argv[] = { SCONTROL, "--oneliner", "show", what, name, NULL };
	size_t size = 256 << 10;
	char *output = malloc(size);

	if (output && process_run(argv, clock_ms() + TOOL_MS, output, size) == 0)
		return output;
	free(output);
	return NULL;
}

/*
 * The value of "KEY = VALUE" in the lines of "show config", or of "KEY=VALUE" among the words
 * of "show node"; "" when it is not there.
 */
static const char *setting(const char *text, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);
	const char *at = text;

	*value = '\0';
	while (at && (at = strcasestr(at, key))) {
		bool begins = at == text || isspace((unsigned char)at[-1]);
		const char *after = at + length + strspn(at + length, " \t");

		if (begins && *after == '=') {
			after += 1 + strspn(after + 1, " \t");
			snprintf(value, size, "%.*s", (int)strcspn(after, " \t\n"), after);
			break;
		}
		at += length;
	}
	return value;
}

/* Is 'word' one of the comma-separated ones? */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		if (strcspn(at, ",") == length && strncasecmp(at, word, length) == 0)
			return true;
	}
	return false;
}

/* A word that a setting of slurm.conf must have; 'since' of what happens without it. */
struct wanted_word {
	int level; /* of its absence */
	const char *key, *word, *to_do, *without;
};

static const struct wanted_word wanted_words[] = {
	{ MS_PROBLEM, "PrologFlags", "Alloc", "write PrologFlags=Alloc,Contain in slurm.conf",
	  "jobs would begin before their LWK has booted" },
	{ MS_PROBLEM, "PrologFlags", "Contain", "write PrologFlags=Alloc,Contain in slurm.conf",
	  "the job_container plugin would not be called" },
	{ MS_PROBLEM, "SlurmdParameters", "config_overrides",
	  "write SlurmdParameters=config_overrides in slurm.conf",
	  "a node that has lent CPUs or memory would be drained when slurmd registers" },
	/* The SPANK plugin sees to it for srun. */
	{ MS_NOTE, "TaskPluginParam", "none", "write TaskPluginParam=none in slurm.conf",
	  "other launchers than srun may bind tasks to CPUs that an LWK has" },
};

static void check_slurm(struct checking *checking)
{
	char value[512], type[512];

	if (!checking->slurm) {
		find(checking, MS_PROBLEM, "slurm",
		     "start slurmctld, or run this where 'scontrol show config' works",
		     "'scontrol show config' gives no answer, so Slurm's settings are not checked");
		return;
	}
	for (size_t i = 0; i < sizeof(wanted_words) / sizeof(*wanted_words); i++) {
		const struct wanted_word *wanted = &wanted_words[i];

		setting(checking->slurm, wanted->key, value, sizeof(value));
		if (has_word(value, wanted->word))
			find(checking, MS_FINE, "slurm", NULL, "%s has %s", wanted->key,
			     wanted->word);
		else
			find(checking, wanted->level, "slurm", wanted->to_do, "%s=%s lacks %s: %s",
			     wanted->key, value, wanted->word, wanted->without);
	}
	setting(checking->slurm, "JobContainerType", value, sizeof(value));
	setting(checking->slurm, "NamespaceType", type, sizeof(type));
	if (strstr(value, "lwk") || strstr(type, "lwk"))
		find(checking, MS_FINE, "slurm", NULL, "the job_container plugin is configured");
	else
		find(checking, MS_PROBLEM, "slurm",
		     "write JobContainerType=job_container/lwk in slurm.conf (with Slurm 25.11 and "
		     "later NamespaceType=namespace/lwk)",
		     "JobContainerType=%s: nothing would tidy up after a crash of slurmd", value);
}

/*
 * Looks for our plugin in plugstack.conf and what it includes. Of an optional plugin Slurm
 * ignores the refusals: a job that cannot have its LWK would run on Linux without a word.
 */
static bool stack_has_plugin(const char *path, int depth)
{
	FILE *file = fopen(path, "re");
	char line[4096], word[4096], argument[4096];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		glob_t files;

		if (sscanf(line, "%4095s %4095s", word, argument) != 2)
			continue;
		if (strcmp(word, "include") == 0 && depth < 4 &&
		    glob(argument, 0, NULL, &files) == 0) {
			for (size_t i = 0; i < files.gl_pathc; i++)
				found |= stack_has_plugin(files.gl_pathv[i], depth + 1);
			globfree(&files);
		} else if (strcmp(word, "required") == 0) {
			const char *base = strrchr(argument, '/');

			found = strcmp(base ? base + 1 : argument, "lwk.so") == 0;
		}
	}
	if (file)
		fclose(file);
	return found;
}

static void check_plugstack(struct checking *checking)
{
	char path[512] = "/etc/slurm/plugstack.conf", set[512] = "";

	if (checking->slurm)
		setting(checking->slurm, "PlugStackConfig", set, sizeof(set));
	if (*set == '/')
		snprintf(path, sizeof(path), "%s", set);
	if (stack_has_plugin(path, 0))
		find(checking, MS_FINE, "plugstack", NULL, "%s loads lwk.so", path);
	else
		find(checking, MS_PROBLEM, "plugstack", "add the line: required lwk.so",
		     "%s does not require lwk.so: Slurm would not know --lwk, or ignore refusals",
		     path);
}

/* CPU 0 never goes; a job that gets it just has less for its LWK. */
static void check_reserved(struct checking *checking)
{
	hwloc_bitmap_t reserved = hwloc_bitmap_alloc();
	char list[512] = "";
	struct ms_error ignored;

	if (!checking->node) {
		hwloc_bitmap_free(reserved);
		return;
	}
	setting(checking->node, "CPUSpecList", list, sizeof(list));
	if (ms_parse_cpus(list, reserved, &ignored) == 0 && hwloc_bitmap_isset(reserved, 0))
		find(checking, MS_FINE, "os-cpus", NULL, "CPUs %s are kept for the system", list);
	else
		find(checking, MS_NOTE, "os-cpus",
		     "write CpuSpecList=0 at this node in slurm.conf, and OsCpus=0 in lwk.conf",
		     "CPU 0 can never go to an LWK, but Slurm gives it to jobs%s%s",
		     *list ? "; CpuSpecList=" : "", list);
	if (checking->config && !hwloc_bitmap_isincluded(reserved, checking->config->os_cpus)) {
		char *os_cpus;

		hwloc_bitmap_list_asprintf(&os_cpus, checking->config->os_cpus);
		find(checking, MS_NOTE, "os-cpus",
		     "let OsCpus= in lwk.conf name all of CpuSpecList=",
		     "Slurm keeps CPUs %s for the system, lwk.conf CPUs %s", list, os_cpus);
		free(os_cpus);
	}
	hwloc_bitmap_free(reserved);
}

static void check_jobs(struct checking *checking)
{
	struct ms_job *jobs;
	struct ms_error err;
	int stuck = 0;
	size_t n;

	if (ms_job_list(&jobs, &n, &err) < 0) {
		find(checking, MS_PROBLEM, "jobs", "run 'lwkctl reset'", "%s", err.text);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].state == MS_JOB_STUCK && ++stuck)
			find(checking, MS_PROBLEM, "jobs",
			     "run 'lwkctl reset JOB'; a job that is over "
			     "must leave nothing",
			     "job %u is stuck: %s", jobs[i].job_id, jobs[i].reason);
	}
	ms_job_list_free(jobs, n);
	if (!stuck)
		find(checking, MS_FINE, "jobs", NULL, "%zu known, none stuck", n);
}

/* A journal of a switch that nobody is doing, and whose record says that somebody is. */
static void check_journals(struct checking *checking)
{
	struct ms_error ignored;
	uint32_t *ids;
	ssize_t n = state_jobs(".journal", &ids, &ignored);
	char path[4096];
	int fd, stale = 0;

	snprintf(path, sizeof(path), "%s/lock", state_dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		for (ssize_t i = 0; i < n; i++) {
			struct ms_job job = { .state = MS_JOB_SWITCHING };
			int got = ms_job_get(ids[i], &job, &ignored);

			if (job.state == MS_JOB_SWITCHING || job.state == MS_JOB_REFUSED) {
				stale++;
				find(checking, MS_PROBLEM, "journals", "run 'lwkctl reset JOB'",
				     "a switch for job %u was broken off and not undone", ids[i]);
			}
			if (got == 1)
				ms_job_release(&job);
		}
	}
	if (fd >= 0)
		close(fd);
	free(ids);
	if (!stale)
		find(checking, MS_FINE, "journals", NULL, "none is stale");
}

static void check_memory(struct checking *checking)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	uint64_t bytes = memory_block_bytes();
	unsigned node;

	if (!bytes || kernel_read_list(nodes, "/sys/devices/system/node/online") < 0) {
		find(checking, MS_NOTE, "memory",
		     "use a kernel with CONFIG_MEMORY_HOTREMOVE for larger contiguous memory",
		     "this kernel has no memory blocks that can go off-line");
		hwloc_bitmap_free(nodes);
		return;
	}
	hwloc_bitmap_foreach_begin(node, nodes) {
		struct memory_block *blocks;
		size_t n = memory_blocks(node, &blocks), movable = 0;

		for (size_t i = 0; i < n; i++)
			movable += blocks[i].movable;
		free(blocks);
		find(checking, movable ? MS_FINE : MS_NOTE, "memory",
		     movable ? NULL
			     : "early after boot, put the blocks of the nodes for jobs off-line and "
			       "write online_movable into their state, or boot with movablecore=",
		     "NUMA node %u: %zu of %zu memory blocks (of %ju MB) are movable%s", node,
		     movable, n, (uintmax_t)(bytes >> 20),
		     movable ? "" : ": large contiguous memory gets scarce as the node is used");
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_free(nodes);
}

int ms_check(const char *config_path, void (*hear)(const struct ms_finding *, void *context),
	     void *context)
{
	struct checking checking = { .hear = hear, .context = context };
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	checking.slurm = ask_scontrol("config", NULL);
	checking.node = checking.slurm && *host ? ask_scontrol("node", host) : NULL;
	check_config(&checking, config_path);
	check_images(&checking);
	for (size_t i = 0; driver_number(i); i++)
		check_module(&checking, driver_number(i));
	check_slurm(&checking);
	check_plugstack(&checking);
	check_reserved(&checking);
	check_memory(&checking);
	check_jobs(&checking);
	check_journals(&checking);
	ms_config_free(checking.config);
	free(checking.slurm);
	free(checking.node);
	return checking.problems;
}
