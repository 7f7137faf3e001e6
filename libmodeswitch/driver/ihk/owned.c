// SPDX-License-Identifier: GPL-2.0-or-later
#include "driver/ihk/owned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "store/state.h"

#define FILE_NAME "ihk.json"
#define LOCK_NAME "ihk.lock"

static int64_t number(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_int64(value) : 0;
}

/* Makes the array of a list's length, and room for one more. */
static int make_array(struct json_object *file, const char *key, size_t size, void *array,
		      size_t *n, struct json_object **list)
{
	void *made;

	*n = 0;
	if (json_object_object_get_ex(file, key, list) &&
	    json_object_is_type(*list, json_type_array))
		*n = json_object_array_length(*list);
	made = calloc(*n + 1, size);
	memcpy(array, &made, sizeof(made));
	return made ? 0 : -ENOMEM;
}

static int read_lists(struct json_object *file, struct owned *owned)
{
	struct json_object *list, *item;

	if (make_array(file, "cpus", sizeof(*owned->cpus), &owned->cpus, &owned->n_cpus, &list))
		return -ENOMEM;
	for (size_t i = 0; i < owned->n_cpus; i++) {
		item = json_object_array_get_idx(list, i);
		owned->cpus[i] =
			(struct owned_cpu){ number(item, "cpu"), number(item, "instance"),
					    number(item, "doorbell"), number(item, "node") };
	}
	if (make_array(file, "memory", sizeof(*owned->chunks), &owned->chunks, &owned->n_chunks,
		       &list))
		return -ENOMEM;
	for (size_t i = 0; i < owned->n_chunks; i++) {
		item = json_object_array_get_idx(list, i);
		owned->chunks[i] =
			(struct owned_chunk){ number(item, "key"), number(item, "bytes"),
					      number(item, "node"), number(item, "instance") };
	}
	if (make_array(file, "instances", sizeof(*owned->instances), &owned->instances,
		       &owned->n_instances, &list))
		return -ENOMEM;
	for (size_t i = 0; i < owned->n_instances; i++) {
		item = json_object_array_get_idx(list, i);
		owned->instances[i] =
			(struct owned_instance){ number(item, "os"), number(item, "job"),
						 number(item, "uid"), number(item, "booted"),
						 number(item, "ending") };
	}
	if (make_array(file, "before", sizeof(*owned->before), &owned->before, &owned->n_before,
		       &list))
		return -ENOMEM;
	for (size_t i = 0; i < owned->n_before; i++) {
		item = json_object_array_get_idx(list, i);
		owned->before[i] =
			(struct ihk_mem_chunk){ number(item, "bytes"), number(item, "node") };
	}
	return 0;
}

int owned_lock(bool alone, unsigned wait_ms)
{
	int64_t deadline = clock_ms() + wait_ms;
	char path[4096];
	int fd, error;

	snprintf(path, sizeof(path), "%s/" LOCK_NAME, state_dir);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	while (flock(fd, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0) {
		error = errno == EWOULDBLOCK ? EBUSY : errno;
		if (error != EINTR && (error != EBUSY || clock_ms() >= deadline)) {
			close(fd);
			return -error;
		}
		usleep(10000);
	}
	return fd;
}

int owned_load(struct owned *owned)
{
	struct json_object *file, *text;
	struct ms_error ignored;
	int error;

	memset(owned, 0, sizeof(*owned));
	if (state_read(FILE_NAME, "what jobs have of IHK", "remove it", &file, &ignored) < 0)
		return -EIO;
	if (json_object_object_get_ex(file, "library", &text))
		snprintf(owned->library, sizeof(owned->library), "%s",
			 json_object_get_string(text));
	owned->seeker = number(file, "seeker");
	owned->seeker_started = number(file, "seeker_started");
	owned->sought = number(file, "sought");
	owned->sought_node = number(file, "sought_node");
	error = read_lists(file, owned);
	json_object_put(file);
	if (error)
		owned_release(owned);
	return error;
}

static struct json_object *add_list(struct json_object *file, const char *key)
{
	struct json_object *list = json_object_new_array();

	json_object_object_add(file, key, list);
	return list;
}

static struct json_object *add_item(struct json_object *list)
{
	struct json_object *item = json_object_new_object();

	json_object_array_add(list, item);
	return item;
}

int owned_save(const struct owned *owned)
{
	struct json_object *file = json_object_new_object(), *list, *item;
	struct ms_error ignored;
	int ret;

	json_add_text(file, "library", owned->library);
	json_add_number(file, "seeker", owned->seeker);
	json_add_number(file, "seeker_started", owned->seeker_started);
	json_add_number(file, "sought", owned->sought);
	json_add_number(file, "sought_node", owned->sought_node);
	list = add_list(file, "cpus");
	for (size_t i = 0; i < owned->n_cpus; i++) {
		item = add_item(list);
		json_add_number(item, "cpu", owned->cpus[i].cpu);
		json_add_number(item, "instance", owned->cpus[i].instance);
		json_add_number(item, "doorbell", owned->cpus[i].doorbell);
		json_add_number(item, "node", owned->cpus[i].node);
	}
	list = add_list(file, "memory");
	for (size_t i = 0; i < owned->n_chunks; i++) {
		item = add_item(list);
		json_add_number(item, "key", owned->chunks[i].key);
		json_add_number(item, "bytes", owned->chunks[i].bytes);
		json_add_number(item, "node", owned->chunks[i].node);
		json_add_number(item, "instance", owned->chunks[i].instance);
	}
	list = add_list(file, "instances");
	for (size_t i = 0; i < owned->n_instances; i++) {
		item = add_item(list);
		json_add_number(item, "os", owned->instances[i].os);
		json_add_number(item, "job", owned->instances[i].job_id);
		json_add_number(item, "uid", owned->instances[i].uid);
		json_add_number(item, "booted", owned->instances[i].booted);
		json_add_number(item, "ending", owned->instances[i].ending);
	}
	list = add_list(file, "before");
	for (size_t i = 0; i < owned->n_before; i++) {
		item = add_item(list);
		json_add_number(item, "bytes", owned->before[i].size);
		json_add_number(item, "node", owned->before[i].numa_node_number);
	}
	ret = state_keep(FILE_NAME, json_object_to_json_string(file), &ignored);
	json_object_put(file);
	return ret < 0 ? -EIO : 0;
}

void owned_release(struct owned *owned)
{
	free(owned->cpus);
	free(owned->chunks);
	free(owned->instances);
	free(owned->before);
	memset(owned, 0, sizeof(*owned));
}

bool owned_is_empty(const struct owned *owned)
{
	return !owned->n_cpus && !owned->n_chunks && !owned->n_instances && !owned->seeker;
}

struct owned_cpu *owned_find_cpu(const struct owned *owned, int cpu)
{
	for (size_t i = 0; i < owned->n_cpus; i++) {
		if (owned->cpus[i].cpu == cpu)
			return &owned->cpus[i];
	}
	return NULL;
}

struct owned_chunk *owned_find_chunk(const struct owned *owned, uint64_t key)
{
	for (size_t i = 0; i < owned->n_chunks; i++) {
		if (owned->chunks[i].key == key)
			return &owned->chunks[i];
	}
	return NULL;
}

struct owned_instance *owned_find_instance(const struct owned *owned, int os)
{
	for (size_t i = 0; i < owned->n_instances; i++) {
		if (owned->instances[i].os == os)
			return &owned->instances[i];
	}
	return NULL;
}

int owned_add_cpu(struct owned *owned, int cpu, int node)
{
	void *more = reallocarray(owned->cpus, owned->n_cpus + 1, sizeof(*owned->cpus));

	if (!more)
		return -ENOMEM;
	owned->cpus = more;
	owned->cpus[owned->n_cpus++] = (struct owned_cpu){ cpu, -1, 0, node };
	return 0;
}

int owned_add_chunk(struct owned *owned, uint64_t bytes, int node)
{
	void *more = reallocarray(owned->chunks, owned->n_chunks + 1, sizeof(*owned->chunks));
	uint64_t key = IHK_FIRST_KEY;

	if (!more)
		return -ENOMEM;
	owned->chunks = more;
	while (owned_find_chunk(owned, key))
		key += IHK_KEY_STEP;
	owned->chunks[owned->n_chunks++] = (struct owned_chunk){ key, bytes, node, -1 };
	return 0;
}

int owned_add_instance(struct owned *owned, int os, uint32_t job_id, uid_t uid)
{
	void *more =
		reallocarray(owned->instances, owned->n_instances + 1, sizeof(*owned->instances));

	if (!more)
		return -ENOMEM;
	owned->instances = more;
	owned->instances[owned->n_instances++] =
		(struct owned_instance){ .os = os, .job_id = job_id, .uid = uid };
	return 0;
}

void owned_drop_cpu(struct owned *owned, struct owned_cpu *cpu)
{
	*cpu = owned->cpus[--owned->n_cpus];
}

void owned_drop_chunk(struct owned *owned, struct owned_chunk *chunk)
{
	*chunk = owned->chunks[--owned->n_chunks];
}

void owned_drop_instance(struct owned *owned, struct owned_instance *instance)
{
	for (size_t i = 0; i < owned->n_cpus; i++) {
		if (owned->cpus[i].instance == instance->os)
			owned->cpus[i].instance = -1;
	}
	for (size_t i = 0; i < owned->n_chunks; i++) {
		if (owned->chunks[i].instance == instance->os)
			owned->chunks[i].instance = -1;
	}
	*instance = owned->instances[--owned->n_instances];
}
