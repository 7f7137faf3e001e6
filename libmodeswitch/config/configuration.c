// SPDX-License-Identifier: GPL-2.0-or-later
#include "config/configuration.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/files.h"
#include "base/parse.h"
#include "driver/driver.h"

#define MAX_SECONDS 3600
#define MIN_PIDS 8
#define MAX_PIDS 4194304 /* as many as the kernel can have */

/* One kind of value: reads 'text' into the field; on failure tells what is allowed. */
typedef int (*parser)(const char *text, void *field, size_t size, struct ms_error *err);

static int parse_count(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number > 4096)
		return ms_fail(err, "wanted a number from 0 to 4096; found \"%s\"", text);
	*(unsigned *)field = number;
	return 0;
}

static int parse_seconds(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number < 1 || number > MAX_SECONDS)
		return ms_fail(err, "wanted seconds, 1 to %d; found \"%s\"", MAX_SECONDS, text);
	*(unsigned *)field = number * 1000;
	return 0;
}

static int parse_keep_seconds(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number > MAX_SECONDS)
		return ms_fail(err, "wanted seconds, 0 to %d; found \"%s\"", MAX_SECONDS, text);
	*(unsigned *)field = number;
	return 0;
}

static int parse_size(const char *text, void *field, size_t size, struct ms_error *err)
{
	return ms_parse_size(text, field, err);
}

static int parse_proxy_memory(const char *text, void *field, size_t size, struct ms_error *err)
{
	return ms_parse_proxy_memory(text, field, err);
}

static int parse_percent(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || strcmp(end, "%") != 0 || number < 1 || number > 100)
		return ms_fail(err, "wanted 1%% to 100%%; found \"%s\"", text);
	*(unsigned *)field = number;
	return 0;
}

static int parse_pids(const char *text, void *field, size_t size, struct ms_error *err)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!isdigit((unsigned char)*text) || *end || number < MIN_PIDS || number > MAX_PIDS)
		return ms_fail(err, "wanted a number from %d to %d; found \"%s\"", MIN_PIDS,
			       MAX_PIDS, text);
	*(unsigned *)field = number;
	return 0;
}

static int parse_required(const char *text, void *field, size_t size, struct ms_error *err)
{
	bool required = strcasecmp(text, "require") == 0;

	if (!required && strcasecmp(text, "available") != 0)
		return ms_fail(err, "wanted require or available; found \"%s\"", text);
	*(bool *)field = required;
	return 0;
}

static int parse_cpus(const char *text, void *field, size_t size, struct ms_error *err)
{
	return ms_parse_cpus(text, *(hwloc_bitmap_t *)field, err);
}

static int parse_nodes(const char *text, void *field, size_t size, struct ms_error *err)
{
	hwloc_bitmap_t *nodes = field, list;
	struct ms_error ignored;

	if (strcasecmp(text, "auto") == 0) {
		*nodes = NULL;
		return 0;
	}
	list = hwloc_bitmap_alloc();
	if (!list)
		return ms_fail(err, "out of memory");
	if (strcasecmp(text, "none") != 0 && (!*text || ms_parse_cpus(text, list, &ignored) < 0)) {
		hwloc_bitmap_free(list);
		return ms_fail(err,
			       "wanted auto, none, or a list of NUMA nodes such as 0,2-3; found "
			       "\"%s\"",
			       text);
	}
	*nodes = list;
	return 0;
}

static int parse_numa(const char *text, void *field, size_t size, struct ms_error *err)
{
	return ms_parse_numa(text, field, err);
}

static int parse_text(const char *text, void *field, size_t size, struct ms_error *err)
{
	size_t length = strlen(text);

	for (const char *c = text; *c; c++) {
		if (!isprint((unsigned char)*c))
			return ms_fail(err, "wanted printable ASCII; found the byte 0x%02x",
				       (unsigned char)*c);
	}
	if (length >= size)
		return ms_fail(err, "wanted at most %zu characters; found %zu", size - 1, length);
	memcpy(field, text, length + 1);
	return 0;
}

static int parse_path(const char *text, void *field, size_t size, struct ms_error *err)
{
	if (*text != '/')
		return ms_fail(err, "wanted an absolute path; found \"%s\"", text);
	return parse_text(text, field, size, err);
}

static int parse_directory(const char *text, void *field, size_t size, struct ms_error *err)
{
	if (strcasecmp(text, "no") == 0)
		return parse_text("", field, size, err);
	if (*text != '/')
		return ms_fail(err, "wanted no, or the absolute path of a directory; found \"%s\"",
			       text);
	return parse_text(text, field, size, err);
}

static int parse_driver(const char *text, void *field, size_t size, struct ms_error *err)
{
	char names[256];

	if (driver_find(text))
		return parse_text(text, field, size, err);
	driver_names(names, sizeof(names));
	return ms_fail(err, "wanted one of: %s; found \"%s\"", names, text);
}

static int parse_yes_no(const char *text, void *field, size_t size, struct ms_error *err)
{
	bool yes = strcasecmp(text, "yes") == 0;

	if (!yes && strcasecmp(text, "no") != 0)
		return ms_fail(err, "wanted yes or no; found \"%s\"", text);
	*(bool *)field = yes;
	return 0;
}

struct key {
	const char *name;
	parser parse;
	size_t offset, size;
	const char *fallback; /* its value when it is not given; NULL: it must be */
};

#define FIELD(type, field) offsetof(struct type, field), sizeof(((struct type *)0)->field)

static const struct key node_keys[] = {
	{ "LinuxCpus", parse_count, FIELD(ms_config, linux_cpus), "1" },
	{ "LinuxMemory", parse_size, FIELD(ms_config, linux_memory), "64M" },
	{ "OsCpus", parse_cpus, FIELD(ms_config, os_cpus), "0" },
	{ "SystemNodes", parse_nodes, FIELD(ms_config, system_nodes), "auto" },
	{ "Numa", parse_numa, FIELD(ms_config, numa), "local" },
	{ "VacateRate", parse_size, FIELD(ms_config, vacate_rate), "0" },
	{ "VacateCpu", parse_percent, FIELD(ms_config, vacate_cpu), "100%" },
	{ "Rehome", parse_yes_no, FIELD(ms_config, rehome), "yes" },
	{ "RehomeRate", parse_size, FIELD(ms_config, rehome_rate), "0" },
	{ "RehomeCpu", parse_percent, FIELD(ms_config, rehome_cpu), "10%" },
	{ "BootTimeout", parse_seconds, FIELD(ms_config, boot_timeout_ms), "10" },
	{ "HangTimeout", parse_seconds, FIELD(ms_config, hang_timeout_ms), "10" },
	{ "SwitchTimeout", parse_seconds, FIELD(ms_config, switch_timeout_ms), "60" },
	{ "DumpOnPanic", parse_directory, FIELD(ms_config, dump_on_panic), "no" },
	{ "KeepWarm", parse_keep_seconds, FIELD(ms_config, keep_warm), "0" },
	{ "KernelCalls", parse_yes_no, FIELD(ms_config, kernel_calls), "yes" },
	{ "ProxyLimits", parse_required, FIELD(ms_config, proxy_limits_required), "available" },
	{ "ProxyMemory", parse_proxy_memory, FIELD(ms_config, proxy_memory), "128M" },
	{ "ProxyMemoryPerGB", parse_size, FIELD(ms_config, proxy_memory_per_gb), "4M" },
	{ "ProxyMemoryMax", parse_proxy_memory, FIELD(ms_config, proxy_memory_max), "1G" },
	{ "ProxyCpu", parse_percent, FIELD(ms_config, proxy_cpu), "50%" },
	{ "ProxyWeight", parse_percent, FIELD(ms_config, proxy_weight), "5%" },
	{ "ProxyPids", parse_pids, FIELD(ms_config, proxy_pids), "1024" },
	{ NULL },
};

static const struct key image_keys[] = {
	{ "Driver", parse_driver, FIELD(ms_image, driver), "lwkpart" },
	{ "Path", parse_path, FIELD(ms_image, path), NULL },
	{ "Args", parse_text, FIELD(ms_image, args), "" },
	{ "Default", parse_yes_no, FIELD(ms_image, is_default), "no" },
	{ NULL },
};

#define MAX_KEYS 32

/* One file being read. */
struct reading {
	FILE *file;
	const char *path;
	unsigned line;
	struct ms_config *config;
	struct ms_error *err;
	bool failed;
	/* Line on which each key was given, by its place in its table; 0: not yet. */
	unsigned node_lines[MAX_KEYS];
	unsigned (*image_lines)[MAX_KEYS];
};

/* The first error counts: what follows may be its consequence. */
static int __attribute__((format(printf, 2, 3)))
fail_at(struct reading *reading, const char *format, ...)
{
	char text[512];
	va_list args;

	if (reading->failed)
		return 0;
	reading->failed = true;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ms_fail(reading->err, "%s:%u: %s", reading->path, reading->line, text);
	return 0; /* inih's "error" */
}

/*
 * inih's source of lines. It counts them, since inih does not tell; takes off leading
 * blanks, which inih would take for a continued value; and finds lines that inih cuts.
 */
static char *next_line(char *line, int size, void *context)
{
	struct reading *reading = context;
	size_t blanks, length;

	if (reading->failed || !fgets(line, size, reading->file))
		return NULL;
	reading->line++;
	length = strlen(line);
	if (length + 1 == (size_t)size && line[length - 1] != '\n') {
		fail_at(reading, "wanted a line of at most %d characters; found a longer one",
			size - 2);
		return NULL;
	}
	blanks = strspn(line, " \t");
	memmove(line, line + blanks, length - blanks + 1);
	if (*line == '[' && !strchr(line, ']')) {
		fail_at(reading, "wanted [node] or [image NAME]; found \"%.*s\"",
			(int)strcspn(line, "\r\n"), line);
		return NULL;
	}
	return line;
}

static void use_fallbacks(const struct key *keys, void *object)
{
	struct ms_error ignored;

	for (; keys->name; keys++) {
		if (keys->fallback)
			keys->parse(keys->fallback, (char *)object + keys->offset, keys->size,
				    &ignored);
	}
}

/* The number of the image of that name, which is made if need be; or -1. */
static int find_or_add_image(struct reading *reading, const char *name)
{
	struct ms_config *config = reading->config;
	struct ms_image *images;
	void *lines;

	for (size_t i = 0; i < config->n_images; i++) {
		if (strcmp(config->images[i].name, name) == 0)
			return i;
	}
	images = reallocarray(config->images, config->n_images + 1, sizeof(*images));
	if (images)
		config->images = images;
	lines = reallocarray(reading->image_lines, config->n_images + 1,
			     sizeof(*reading->image_lines));
	if (lines)
		reading->image_lines = lines;
	if (!images || !lines)
		return -1;
	images += config->n_images;
	memset(images, 0, sizeof(*images));
	memset(reading->image_lines[config->n_images], 0, sizeof(*reading->image_lines));
	snprintf(images->name, sizeof(images->name), "%s", name);
	use_fallbacks(image_keys, images);
	return config->n_images++;
}

static int set_key(struct reading *reading, const struct key *keys, unsigned *lines, void *object,
		   const char *name, const char *value)
{
	char allowed[512] = "";
	struct ms_error why;
	size_t at = 0;

	for (const struct key *key = keys; key->name; key++, lines++) {
		if (strcasecmp(key->name, name) != 0) {
			at += snprintf(allowed + at, sizeof(allowed) - at, "%s%s", at ? ", " : "",
				       key->name);
			continue;
		}
		if (*lines)
			return fail_at(reading, "%s is given a second time (first on line %u)",
				       key->name, *lines);
		*lines = reading->line;
		if (key->parse(value, (char *)object + key->offset, key->size, &why) < 0)
			return fail_at(reading, "%s: %s", key->name, why.text);
		return 1;
	}
	return fail_at(reading, "unknown key \"%s\"; known here: %s", name, allowed);
}

static int handle_line(void *context, const char *section, const char *name, const char *value)
{
	struct reading *reading = context;
	const char *image = section + strlen("image");
	int number;

	if (reading->failed)
		return 0;
	if (strcasecmp(section, "node") == 0)
		return set_key(reading, node_keys, reading->node_lines, reading->config, name,
			       value);
	if (strncasecmp(section, "image", strlen("image")) != 0 || !isblank((unsigned char)*image))
		return fail_at(reading,
			       "%s in unknown section \"[%s]\"; known are [node] and [image NAME]",
			       name, section);
	image += strspn(image, " \t");
	if (!ms_image_name_valid(image))
		return fail_at(reading,
			       "wanted an image name (a letter or digit, then letters, digits, "
			       "'.', '_', '-'; at most %d in all); found \"%s\"",
			       MS_IMAGE_NAME_MAX, image);
	number = find_or_add_image(reading, image);
	if (number < 0)
		return fail_at(reading, "out of memory");
	return set_key(reading, image_keys, reading->image_lines[number],
		       &reading->config->images[number], name, value);
}

/* What only the whole file can show. */
static int check_images(const struct ms_config *config, const char *path, struct ms_error *err)
{
	const struct ms_image *first_default = NULL;

	if (!config->n_images)
		return ms_fail(
			err,
			"%s: wanted at least one image; found none; add [image NAME] with Path=",
			path);
	for (size_t i = 0; i < config->n_images; i++) {
		const struct ms_image *image = &config->images[i];

		if (!*image->path)
			return ms_fail(err, "%s: [image %s] lacks Path=", path, image->name);
		if (!image->is_default)
			continue;
		if (first_default)
			return ms_fail(
				err, "%s: wanted one image with Default=yes; found two, %s and %s",
				path, first_default->name, image->name);
		first_default = image;
	}
	return 0;
}

static int check_proxies(const struct ms_config *config, const char *path, struct ms_error *err)
{
	char wanted[FORMAT_SIZE], found[FORMAT_SIZE];

	if (config->proxy_memory_per_gb > 1UL << 30)
		return ms_fail(err, "%s: wanted ProxyMemoryPerGB= of 1G at most; found %s", path,
			       format_size(config->proxy_memory_per_gb, found));
	if (config->proxy_memory <= config->proxy_memory_max)
		return 0;
	return ms_fail(err,
		       "%s: wanted ProxyMemory= of ProxyMemoryMax= (%s) at most; found %s; raise "
		       "ProxyMemoryMax= with it",
		       path, format_size(config->proxy_memory_max, wanted),
		       format_size(config->proxy_memory, found));
}

int config_parse(FILE *file, const char *path, struct ms_config **out, struct ms_error *err)
{
	struct ms_config *config = calloc(1, sizeof(*config));
	struct reading reading = { .file = file, .path = path, .config = config, .err = err };
	int line, ret;

	if (!config || !(config->os_cpus = hwloc_bitmap_alloc())) {
		free(config);
		return ms_fail(err, "out of memory");
	}
	use_fallbacks(node_keys, config);
	line = ini_parse_stream(next_line, &reading, handle_line, &reading);
	if (!reading.failed && ferror(file))
		ret = ms_fail(err, "%s: %m", path);
	else if (!reading.failed && line)
		ret = ms_fail(err, "%s:%d: wanted KEY = VALUE or [SECTION]; found something else",
			      path, line);
	else if (reading.failed || check_images(config, path, err) < 0)
		ret = -1;
	else
		ret = check_proxies(config, path, err);
	free(reading.image_lines);
	if (ret < 0) {
		ms_config_free(config);
		return -1;
	}
	hwloc_bitmap_set(config->os_cpus, 0);
	*out = config;
	return 0;
}

int ms_config_load(const char *path, struct ms_config **out, struct ms_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;
	FILE *file;

	if (fd < 0)
		return ms_fail(err, "%s: %m; an example is in %s/lwk.conf.example", path,
			       MS_DOCDIR);
	if (file_check_trusted(fd, path, err) < 0) {
		close(fd);
		return -1;
	}
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return ms_fail(err, "%s: %m", path);
	}
	ret = config_parse(file, path, out, err);
	fclose(file);
	return ret;
}

void ms_config_free(struct ms_config *config)
{
	if (!config)
		return;
	hwloc_bitmap_free(config->os_cpus);
	hwloc_bitmap_free(config->system_nodes);
	ms_numa_release(&config->numa);
	free(config->images);
	free(config);
}

bool ms_image_name_valid(const char *name)
{
	static const char alnum[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	size_t length = strlen(name);

	if (!length || length > MS_IMAGE_NAME_MAX || !strchr(alnum, *name))
		return false;
	for (; *name; name++) {
		if (!strchr(alnum, *name) && !strchr("._-", *name))
			return false;
	}
	return true;
}

const struct ms_image *ms_config_image(const struct ms_config *config, const char *name,
				       struct ms_error *err)
{
	char names[512] = "";
	size_t at = 0;

	for (size_t i = 0; i < config->n_images; i++) {
		const struct ms_image *image = &config->images[i];

		if (name && *name ? strcmp(image->name, name) == 0
				  : image->is_default || config->n_images == 1)
			return image;
		if (at < sizeof(names))
			at += snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "",
				       image->name);
	}
	if (name && *name)
		ms_fail(err, "there is no LWK image \"%.*s\" here; there are: %s",
			MS_IMAGE_NAME_MAX, name, names);
	else
		ms_fail(err, "this site has no default LWK image; choose one with --lwk=NAME: %s",
			names);
	return NULL;
}
