// SPDX-License-Identifier: GPL-2.0-or-later
#include "driver/ihk/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/trust.h"
#include "modeswitch/job.h"

#define REMEDY                                                                                     \
	"install McKernel with IHK, or write Library= with the path of its libihk.so to the "      \
	"image in " MS_CONFIG_PATH

/* Checks that only root could have made the file: it becomes part of root's processes. */
static int check_path(const char *path, struct ms_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;

	if (fd < 0)
		return ms_fail(err, "expected IHK's library %s, found none (%m); " REMEDY, path);
	ret = path_check_trusted(path, err) < 0 || file_check_trusted(fd, path, err) < 0 ? -1 : 0;
	close(fd);
	return ret;
}

static int find_calls(void *handle, const char *name, struct ihk_library *library,
		      struct ms_error *err)
{
	const char *missing = NULL;

#define FIND(call)                                                                                 \
	library->call = (__typeof__(library->call))dlsym(handle, "ihk_" #call);                    \
	if (!library->call && !missing)                                                            \
		missing = "ihk_" #call;
	IHK_CALLS(FIND)
#undef FIND
	library->os_set_owner =
		(__typeof__(library->os_set_owner))dlsym(handle, "ihk_os_set_owner");
	if (!missing)
		return 0;
	return ms_fail(err,
		       "%s: expected IHK's library with the call %s, found one without; it is of "
		       "another release: " REMEDY,
		       name, missing);
}

const struct ihk_library *ihk_library_load(const char *path, struct ms_error *err)
{
	static struct ihk_library library;
	static char loaded[4096];
	const char *name = *path ? path : IHK_LIBRARY;
	struct ihk_library found;
	void *handle;

	if (*loaded && strcmp(loaded, name) == 0)
		return &library;
	if (*path && check_path(path, err) < 0)
		return NULL;
	handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		ms_fail(err, "expected IHK's library, found that it cannot be loaded: %s; " REMEDY,
			dlerror());
		return NULL;
	}
	if (find_calls(handle, name, &found, err) < 0) {
		dlclose(handle);
		return NULL;
	}
	library = found;
	snprintf(loaded, sizeof(loaded), "%s", name);
	return &library;
}
