// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calls of root on an OS instance: what it has, loading, booting, ending.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "driver/driver.h"
#include "holdings.h"

#define BOOT_MS 10000
#define MAX_IMAGE (64L << 20)
#define MAX_KARGS 256

static const struct driver *const lwkpart = &driver_lwkpart;

static int move_cpus(int os, int *cpus, int n, bool assign)
{
	struct compat compat;
	int error = compat_enter_os(&compat, os, true);

	if (!error)
		error = check_array(cpus, n);
	if (!error)
		error = mark_cpus(&compat, cpus, n, assign ? OWNER_POOL : os,
				  assign ? os : OWNER_POOL);
	if (!error && n)
		error = compat_rearrange(&compat, os);
	compat_leave(&compat);
	return error;
}

int ihk_os_assign_cpu(int index, int *cpus, int num_cpus)
{
	return move_cpus(index, cpus, num_cpus, true);
}

int ihk_os_release_cpu(int index, int *cpus, int num_cpus)
{
	return move_cpus(index, cpus, num_cpus, false);
}

static int move_memory(int os, struct ihk_mem_chunk *chunks, int n, bool assign)
{
	struct compat compat;
	int error = compat_enter_os(&compat, os, true);

	if (!error)
		error = check_array(chunks, n);
	if (!error)
		error = mark_memory(&compat, chunks, n, assign ? OWNER_POOL : os,
				    assign ? os : OWNER_POOL, !assign);
	if (!error && n)
		error = compat_rearrange(&compat, os);
	compat_leave(&compat);
	return error;
}

int ihk_os_assign_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks)
{
	return move_memory(index, mem_chunks, num_mem_chunks, true);
}

int ihk_os_release_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks)
{
	return move_memory(index, mem_chunks, num_mem_chunks, false);
}

int ihk_os_get_num_assigned_cpus(int index)
{
	struct compat compat;
	int result = compat_enter_os(&compat, index, false);

	if (!result)
		result = count_cpus(&compat, index);
	compat_leave(&compat);
	return result;
}

int ihk_os_query_cpu(int index, int *cpus, int num_cpus)
{
	struct compat compat;
	int error = compat_enter_os(&compat, index, false);

	if (!error)
		error = check_array(cpus, num_cpus);
	if (!error)
		error = copy_cpus(&compat, index, cpus, num_cpus);
	compat_leave(&compat);
	return error;
}

int ihk_os_get_num_assigned_mem_chunks(int index)
{
	struct compat compat;
	int result = compat_enter_os(&compat, index, false);

	if (!result)
		result = count_memory(&compat, index);
	compat_leave(&compat);
	return result;
}

int ihk_os_query_mem(int index, struct ihk_mem_chunk *mem_chunks, int num_mem_chunks)
{
	struct compat compat;
	int error = compat_enter_os(&compat, index, false);

	if (!error)
		error = check_array(mem_chunks, num_mem_chunks);
	if (!error)
		error = copy_memory(&compat, index, mem_chunks, num_mem_chunks);
	compat_leave(&compat);
	return error;
}

static bool is_online(int cpu)
{
	hwloc_bitmap_t online = hwloc_bitmap_alloc();
	bool is = cpu >= 0 && online &&
		  kernel_read_list(online, "/sys/devices/system/cpu/online") == 0 &&
		  hwloc_bitmap_isset(online, cpu);

	hwloc_bitmap_free(online);
	return is;
}

static int check_map(const struct compat *compat, int os, const struct ihk_ikc_cpu_map *map, int n)
{
	int error = n > 0 ? check_array(map, n) : -EINVAL;

	if (!error && n != count_cpus(compat, os))
		error = -EINVAL;
	for (int i = 0; !error && i < n; i++) {
		bool found = false;

		for (size_t j = 0; !found && j < compat->n; j++)
			found = compat->owner[j] == os && compat->lent[j].is_cpu &&
				(int)compat->lent[j].cpu == map[i].src_cpu;
		for (int j = 0; found && j < i; j++)
			found = map[j].src_cpu != map[i].src_cpu;
		error = found && is_online(map[i].dst_cpu) ? 0 : -EINVAL;
	}
	return error;
}

int ihk_os_set_ikc_map(int index, struct ihk_ikc_cpu_map *map, int num_cpus)
{
	struct json_object *settings = NULL, *object;
	struct compat compat;
	int error = compat_enter_os(&compat, index, true);

	if (!error)
		error = check_map(&compat, index, map, num_cpus);
	if (!error) {
		settings = compat_settings(index);
		object = json_object_new_object();
		for (int i = 0; i < num_cpus; i++) {
			char key[16];

			snprintf(key, sizeof(key), "%d", map[i].src_cpu);
			json_object_object_add(object, key, json_object_new_int(map[i].dst_cpu));
		}
		json_object_object_add(settings, "map", object);
		error = compat_keep_settings(index, settings);
	}
	if (!error)
		error = compat_rearrange(&compat, index);
	json_object_put(settings);
	compat_leave(&compat);
	return error;
}

int ihk_os_get_ikc_map(int index, struct ihk_ikc_cpu_map *map, int num_cpus)
{
	struct json_object *settings, *object = NULL, *target;
	struct compat compat;
	int error = compat_enter_os(&compat, index, false);

	if (!error)
		error = num_cpus > 0 ? check_array(map, num_cpus) : -EINVAL;
	if (!error && num_cpus != count_cpus(&compat, index))
		error = -EINVAL;
	settings = compat_settings(index);
	json_object_object_get_ex(settings, "map", &object);
	for (size_t i = 0; !error && i < compat.n; i++) {
		char key[16];

		if (compat.owner[i] != index || !compat.lent[i].is_cpu)
			continue;
		snprintf(key, sizeof(key), "%u", compat.lent[i].cpu);
		*map++ = (struct ihk_ikc_cpu_map){
			.src_cpu = compat.lent[i].cpu,
			.dst_cpu = json_object_object_get_ex(object, key, &target)
					   ? json_object_get_int(target)
					   : 0,
		};
	}
	json_object_put(settings);
	compat_leave(&compat);
	return error;
}

static int read_image(const char *path, void **image, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error = 0;
	struct stat st;
	ssize_t got;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		error = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size > MAX_IMAGE)
		error = -EINVAL;
	*image = error ? NULL : malloc(st.st_size + 1);
	if (!error && !*image)
		error = -ENOMEM;
	for (*size = 0; !error && *size < (size_t)st.st_size; *size += got) {
		got = read(fd, (char *)*image + *size, st.st_size - *size);
		if (got <= 0)
			error = got < 0 ? -errno : -EINVAL;
	}
	close(fd);
	return error;
}

int ihk_os_load(int index, char *fn)
{
	struct compat compat;
	void *image = NULL;
	size_t size = 0;
	int error = compat_enter_os(&compat, index, true);

	if (!error)
		error = fn ? read_image(fn, &image, &size) : -EINVAL;
	if (!error)
		error = lwkpart->load(compat.dev, compat_instance(&compat, index), image, size);
	free(image);
	compat_leave(&compat);
	return error == -ENOEXEC ? -EINVAL : error;
}

/* Copies the words but "hidos", which only McKernel knows. Returns whether it was there. */
static bool take_hidos(const char *kargs, char words[MAX_KARGS])
{
	bool found = false;
	size_t length;

	for (*words = '\0'; *kargs; kargs += length) {
		kargs += strspn(kargs, " ");
		length = strcspn(kargs, " ");
		if (length == strlen("hidos") && strncmp(kargs, "hidos", length) == 0)
			found = true;
		else if (length)
			sprintf(words + strlen(words), "%s%.*s", *words ? " " : "", (int)length,
				kargs);
	}
	return found;
}

int ihk_os_kargs(int index, char *kargs)
{
	struct json_object *settings;
	char words[MAX_KARGS];
	struct compat compat;
	int error = compat_enter_os(&compat, index, true);

	if (!error && !kargs)
		error = -EFAULT;
	if (!error && (strnlen(kargs, MAX_KARGS) == MAX_KARGS || !take_hidos(kargs, words)))
		error = -EINVAL;
	if (!error) {
		settings = compat_settings(index);
		json_object_object_add(settings, "kargs", json_object_new_string(words));
		error = compat_keep_settings(index, settings);
		json_object_put(settings);
	}
	compat_leave(&compat);
	return error;
}

int ihk_os_boot(int index)
{
	struct json_object *settings, *kargs = NULL;
	struct compat compat;
	int error = compat_enter_os(&compat, index, true);

	if (!error) {
		settings = compat_settings(index);
		json_object_object_get_ex(settings, "kargs", &kargs);
		error = lwkpart->boot(compat.dev, compat_instance(&compat, index),
				      kargs ? json_object_get_string(kargs) : "", BOOT_MS);
		/* Nothing is loaded, or the LWK did not come up. */
		if (error)
			error = -EINVAL;
		json_object_put(settings);
	}
	compat_leave(&compat);
	return error;
}

/* An instance that has ended is INACTIVE in IHK, with what it had. */
int ihk_os_shutdown(int index)
{
	struct compat compat;
	int error = compat_enter_os(&compat, index, true);

	if (error == -EBUSY) {
		error = lwkpart->shutdown(compat.dev, compat_instance(&compat, index));
		if (!error)
			error = compat_rearrange(&compat, index);
	}
	compat_leave(&compat);
	return error;
}

int ihk_os_set_owner(int index, uid_t uid)
{
	struct compat compat;
	int error = compat_enter_os(&compat, index, true);

	if (!error)
		error = compat_destroy(&compat, index);
	if (!error)
		error = compat_create(&compat, index, uid);
	compat_leave(&compat);
	return error;
}
