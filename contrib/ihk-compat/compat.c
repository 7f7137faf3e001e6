// SPDX-License-Identifier: GPL-2.0-or-later
#include "compat.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "abi/lwkpart.h"
#include "driver/driver.h"
#include "modeswitch/job.h"
#include "store/state.h"

/* Slurm's job ids are smaller. */
#define POOL_JOB 0xfffffff0U
#define OS_JOB 0xffffff00U
#define LOCK_MS 60000
#define DIRECTORY "/run/ihk-compat"
#define LENDING "lending.json"

static const struct driver *const lwkpart = &driver_lwkpart;

static uint32_t job_of(int os)
{
	return os == OWNER_POOL ? POOL_JOB : OS_JOB + os;
}

static int owner_of(int dev, int instance)
{
	struct instance_info info;

	if (instance == MS_NO_INSTANCE || lwkpart->info(dev, instance, &info))
		return OWNER_OTHER;
	if (info.job_id == POOL_JOB)
		return OWNER_POOL;
	if (info.job_id >= OS_JOB && info.job_id < OS_JOB + MAX_OS)
		return info.job_id - OS_JOB;
	return OWNER_OTHER;
}

static int read_ledger(struct compat *compat)
{
	int error;

	free(compat->lent);
	free(compat->owner);
	compat->lent = NULL;
	compat->owner = NULL;
	error = lwkpart->ledger(compat->dev, &compat->lent, &compat->n);
	if (error)
		return error;
	compat->owner = calloc(compat->n + 1, sizeof(*compat->owner));
	if (!compat->owner)
		return -ENOMEM;
	for (size_t i = 0; i < compat->n; i++)
		compat->owner[i] = owner_of(compat->dev, compat->lent[i].instance);
	return 0;
}

static struct json_object *read_others(void)
{
	struct json_object *file, *list = NULL;
	struct ms_error ignored;

	if (state_read(LENDING, "what others have", "", &file, &ignored) < 0)
		return NULL;
	if (json_object_object_get_ex(file, "others", &list))
		json_object_get(list);
	json_object_put(file);
	return list;
}

/* A number for each CPU and range that is lent. */
static uint64_t name_of_lent(const struct ms_lent *lent)
{
	return lent->is_cpu ? lent->cpu : lent->start;
}

static bool is_others(struct json_object *list, const struct ms_lent *lent)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		if (json_object_get_uint64(json_object_array_get_idx(list, i)) ==
		    name_of_lent(lent))
			return true;
	}
	return false;
}

int compat_begin_lending(const struct compat *compat)
{
	struct json_object *file = json_object_new_object(), *list = json_object_new_array();
	struct ms_error ignored;
	int ret;

	for (size_t i = 0; i < compat->n; i++) {
		if (compat->owner[i] == OWNER_OTHER)
			json_object_array_add(
				list, json_object_new_uint64(name_of_lent(&compat->lent[i])));
	}
	json_object_object_add(file, "others", list);
	ret = state_keep(LENDING, json_object_to_json_string(file), &ignored);
	json_object_put(file);
	return ret < 0 ? -EIO : 0;
}

int compat_end_lending(void)
{
	struct ms_error ignored;

	return state_keep(LENDING, "{}", &ignored) < 0 ? -EIO : 0;
}

/* Gives the pool what a killed process had lent and not given to the pool itself. */
static int adopt(struct compat *compat)
{
	struct json_object *others = read_others();
	bool any = false;
	int error = 0;

	if (!others)
		return 0;
	for (size_t i = 0; i < compat->n; i++) {
		if (compat->lent[i].instance != MS_NO_INSTANCE ||
		    is_others(others, &compat->lent[i]))
			continue;
		compat->owner[i] = OWNER_POOL;
		any = true;
	}
	json_object_put(others);
	error = any ? compat_rearrange(compat, -1) : compat_end_lending();
	return error || !any ? error : read_ledger(compat);
}

int compat_enter(struct compat *compat, int device)
{
	int error;

	struct ms_error ignored;

	*compat = (struct compat){ .dev = -1, .lock = -1 };
	if (device != 0 || access(LWKPART_DEVICE, F_OK) < 0)
		return -ENOENT;
	if (geteuid() != 0)
		return -EACCES;
	state_dir = DIRECTORY;
	compat->dev = lwkpart->open(&ignored);
	if (compat->dev < 0)
		return compat->dev;
	compat->lock = state_lock(LOCK_MS, &ignored);
	if (compat->lock < 0)
		return -EBUSY;
	error = read_ledger(compat);
	return error ? error : adopt(compat);
}

void compat_leave(struct compat *compat)
{
	free(compat->lent);
	free(compat->owner);
	if (compat->dev >= 0)
		lwkpart->close(compat->dev);
	if (compat->lock >= 0)
		close(compat->lock);
}

static void device_of(int os, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "/dev/mcos%d", os);
}

int compat_may_read(int os)
{
	char path[PATH_MAX];

	device_of(os, path);
	return os < 0 || os >= MAX_OS ? -ENOENT : access(path, R_OK) < 0 ? -errno : 0;
}

int compat_instance(const struct compat *compat, int os)
{
	int instance = driver_instance_of_job(lwkpart, compat->dev, job_of(os));

	return instance == MS_NO_INSTANCE ? -ENOENT : instance;
}

int compat_enter_os(struct compat *compat, int os, bool idle)
{
	struct lwkpart_instance_info info = { 0 };
	int error, instance;

	*compat = (struct compat){ .dev = -1, .lock = -1 };
	error = compat_may_read(os);
	if (!error && geteuid() != 0)
		error = -EPERM;
	if (!error)
		error = compat_enter(compat, 0);
	if (error)
		return error;
	instance = compat_instance(compat, os);
	if (instance < 0)
		return instance;
	info.instance = instance;
	if (ioctl(compat->dev, LWKPART_GET_INSTANCE, &info) < 0)
		return -errno;
	return idle && info.state > LWK_STATE_LOADED ? -EBUSY : 0;
}

/*
 * The Linux CPU for the doorbells of the instance's CPU: 0, which always stays with Linux, or as
 * set.
 */
static unsigned doorbell_of(struct json_object *settings, unsigned cpu)
{
	struct json_object *map, *target;
	char key[16];

	snprintf(key, sizeof(key), "%u", cpu);
	if (json_object_object_get_ex(settings, "map", &map) &&
	    json_object_object_get_ex(map, key, &target))
		return json_object_get_int(target);
	return 0;
}

static int assign_all(struct compat *compat, int os, int instance)
{
	struct json_object *settings = compat_settings(os);
	int error = settings ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < compat->n; i++) {
		const struct ms_lent *lent = &compat->lent[i];

		if (compat->owner[i] != os)
			continue;
		if (lent->is_cpu)
			error = lwkpart->assign_cpu(compat->dev, instance, lent->cpu,
						    doorbell_of(settings, lent->cpu));
		else
			error = lwkpart->assign_memory(compat->dev, instance, lent->start,
						       lent->bytes);
	}
	json_object_put(settings);
	return error;
}

/* Leads /dev/mcosN to the instance's device. */
static int link_device(int os, int instance)
{
	char path[PATH_MAX], device[PATH_MAX], fresh[PATH_MAX + 8];

	device_of(os, path);
	snprintf(device, sizeof(device), LWK_DEVICE_DIR "/%d", instance);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	unlink(fresh);
	if (symlink(device, fresh) < 0 || rename(fresh, path) < 0)
		return -errno;
	return 0;
}

int compat_create(struct compat *compat, int os, uid_t uid)
{
	int instance = lwkpart->create(compat->dev, job_of(os), uid, true, false), error;

	if (instance < 0)
		return instance;
	error = assign_all(compat, os, instance);
	if (!error && os != OWNER_POOL)
		error = link_device(os, instance);
	return error;
}

int compat_destroy(struct compat *compat, int os)
{
	int instance = compat_instance(compat, os);

	return instance < 0 ? 0 : lwkpart->destroy(compat->dev, instance);
}

static bool pool_has_any(const struct compat *compat)
{
	for (size_t i = 0; i < compat->n; i++) {
		if (compat->owner[i] == OWNER_POOL)
			return true;
	}
	return false;
}

static uid_t user_of(const struct compat *compat, int os)
{
	struct lwkpart_instance_info info = { .instance = compat_instance(compat, os) };

	return ioctl(compat->dev, LWKPART_GET_INSTANCE, &info) < 0 ? 0 : info.uid;
}

int compat_rearrange(struct compat *compat, int os)
{
	uid_t uid = os < 0 ? 0 : user_of(compat, os);
	int error = compat_begin_lending(compat);

	if (!error)
		error = compat_destroy(compat, OWNER_POOL);
	if (!error && os >= 0)
		error = compat_destroy(compat, os);
	if (!error && os >= 0)
		error = compat_create(compat, os, uid);
	if (!error && pool_has_any(compat))
		error = compat_create(compat, OWNER_POOL, 0);
	return error ? error : compat_end_lending();
}

static void name_of(int os, char name[32])
{
	snprintf(name, 32, "os%d.json", os);
}

struct json_object *compat_settings(int os)
{
	struct json_object *settings;
	struct ms_error ignored;
	char name[32];

	name_of(os, name);
	if (os == OWNER_POOL || state_read(name, "settings", "", &settings, &ignored) < 0)
		return json_object_new_object();
	return settings;
}

int compat_keep_settings(int os, struct json_object *settings)
{
	struct ms_error ignored;
	char name[32];

	name_of(os, name);
	return state_keep(name, json_object_to_json_string(settings), &ignored) < 0 ? -EIO : 0;
}

int compat_watch(int os)
{
	char path[PATH_MAX], device[PATH_MAX];
	ssize_t length;
	int error = compat_may_read(os);

	if (error)
		return error;
	device_of(os, path);
	length = readlink(path, device, sizeof(device) - 1);
	if (length < 0)
		return -errno;
	device[length] = '\0';
	return lwkpart->watching->open(device);
}
