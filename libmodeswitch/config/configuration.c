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

#include "base/parse.h"
#include "base/trust.h"
#include "config/keys.h"

/* The state of reading one file. */
struct reading {
	FILE *file;
	const char *path;
	unsigned line;
	struct ms_config *config;
	struct ms_error *err;
	bool failed;
	/* The line that gave each key, by the key's place in its table; 0: none yet. */
	unsigned node_lines[MAX_KEYS];
	unsigned (*image_lines)[MAX_KEYS];
};

/* Only the first error is reported, because later ones may be its consequences. */
static int __attribute__((format(printf, 2, 3))) fail_at(struct reading *reading,
							 const char *format, ...)
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
 * Gives inih its lines. Counts them, because inih does not tell the number; removes leading blanks,
 * which inih would take for a continued value; and finds lines that inih would cut.
 */
static char *next_line(char *line, int size, void *context)
{
	struct reading *reading = context;
	size_t blanks, length = 0;
	int byte = EOF;

	if (reading->failed)
		return NULL;
	while (byte != '\n' && length + 1 < (size_t)size && (byte = getc(reading->file)) != EOF)
		line[length++] = byte;
	if (!length)
		return NULL;
	line[length] = '\0';
	reading->line++;
	if (strlen(line) != length) {
		fail_at(reading, "expected text, found a byte with the value 0; remove it");
		return NULL;
	}
	if (length + 1 == (size_t)size && line[length - 1] != '\n') {
		fail_at(reading, "expected a line of at most %d characters, found a longer one",
			size - 2);
		return NULL;
	}
	blanks = strspn(line, " \t");
	memmove(line, line + blanks, length - blanks + 1);
	if (*line == '[' && !strchr(line, ']')) {
		fail_at(reading, "expected [node] or [image NAME], found \"%.*s\"",
			(int)strcspn(line, "\r\n"), line);
		return NULL;
	}
	return line;
}

/* Returns the number of the image of that name, which it adds if need be; or -1. */
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
	set_fallbacks(image_keys, images);
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
			return fail_at(reading,
				       "expected %s once, found it on line %u, too; remove one of "
				       "the two",
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
			       "expected an image name (a letter or digit, then letters, digits, "
			       "'.', '_', '-'; at most %d in all), found \"%s\"",
			       MS_IMAGE_NAME_MAX, image);
	number = find_or_add_image(reading, image);
	if (number < 0)
		return fail_at(reading, "out of memory");
	return set_key(reading, image_keys, reading->image_lines[number],
		       &reading->config->images[number], name, value);
}

/* Checks the images as a whole, after the last line of the file. */
static int validate_images(const struct ms_config *config, const char *path, struct ms_error *err)
{
	const struct ms_image *first_default = NULL;

	if (!config->n_images)
		return ms_fail(
			err,
			"%s: expected at least one image, found none; add [image NAME] with Path=",
			path);
	for (size_t i = 0; i < config->n_images; i++) {
		const struct ms_image *image = &config->images[i];

		if (!*image->path)
			return ms_fail(err, "%s: [image %s] lacks Path=", path, image->name);
		if (!image->is_default)
			continue;
		if (first_default)
			return ms_fail(
				err,
				"%s: expected one image with Default=yes, found two, %s and %s",
				path, first_default->name, image->name);
		first_default = image;
	}
	return 0;
}

static int check_proxies(const struct ms_config *config, const char *path, struct ms_error *err)
{
	char wanted[FORMAT_SIZE], found[FORMAT_SIZE];

	if (config->proxy_memory_per_gb > 1UL << 30)
		return ms_fail(err, "%s: expected ProxyMemoryPerGB= of 1G at most, found %s", path,
			       format_size(config->proxy_memory_per_gb, found));
	if (config->proxy_memory <= config->proxy_memory_max)
		return 0;
	return ms_fail(err,
		       "%s: expected ProxyMemory= of ProxyMemoryMax= (%s) at most, found %s; raise "
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
	set_fallbacks(node_keys, config);
	line = ini_parse_stream(next_line, &reading, handle_line, &reading);
	if (!reading.failed && ferror(file))
		ret = ms_fail(err, "%s: %m", path);
	else if (!reading.failed && line)
		ret = ms_fail(err, "%s:%d: expected KEY = VALUE or [SECTION], found something else",
			      path, line);
	else if (reading.failed || validate_images(config, path, err) < 0)
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
	FILE *file;
	int fd, ret;

	path = path ? path : MS_CONFIG_PATH;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
