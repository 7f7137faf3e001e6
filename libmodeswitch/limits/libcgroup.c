// SPDX-License-Identifier: GPL-2.0-or-later
#include "limits/libcgroup.h"

#ifdef HAVE_LIBCGROUP

#include <libcgroup.h>
#include <string.h>

bool libcgroup_is_there(void)
{
	return true;
}

static const char *text_of(int error)
{
	return error == ECGOTHER ? strerror(cgroup_get_last_errno()) : cgroup_strerror(error);
}

/* Finds the mounts, which libcgroup wants at first, and begins a cgroup. 0 or an error number. */
static int begin(const char *controller, const char *name, struct cgroup **group,
		 struct cgroup_controller **part)
{
	int error = cgroup_init();

	*group = error ? NULL : cgroup_new_cgroup(name);
	*part = *group ? cgroup_add_controller(*group, controller) : NULL;
	return error || *part ? error : ECGFAIL;
}

int libcgroup_make(const char *controller, const char *name, const struct setting *settings,
		   struct ms_error *err)
{
	struct cgroup_controller *part;
	struct cgroup *group;
	int error = begin(controller, name, &group, &part);

	for (; !error && settings->file; settings++)
		error = settings->value
				? cgroup_add_value_string(part, settings->file, settings->value)
				: ECGFAIL;
	if (!error)
		error = cgroup_create_cgroup(group, 1);
	cgroup_free(&group);
	if (error)
		return ms_fail(err, "the cgroup %s of the controller %s cannot be made: %s", name,
			       controller, text_of(error));
	return 0;
}

int libcgroup_remove(const char *controller, const char *name, struct ms_error *err)
{
	struct cgroup_controller *part;
	struct cgroup *group;
	int error = begin(controller, name, &group, &part);

	if (!error)
		error = cgroup_delete_cgroup_ext(group, CGFLAG_DELETE_IGNORE_MIGRATION);
	cgroup_free(&group);
	if (error)
		return ms_fail(err, "the cgroup %s of the controller %s cannot be removed: %s",
			       name, controller, text_of(error));
	return 0;
}

#else

bool libcgroup_is_there(void)
{
	return false;
}

int libcgroup_make(const char *controller, const char *name, const struct setting *settings,
		   struct ms_error *err)
{
	return ms_fail(err,
		       "the cgroup %s of the controller %s cannot be made: expected slurm-lwk "
		       "built with libcgroup, found it without; build it with libcgroup, or use "
		       "cgroup version 2",
		       name, controller);
}

int libcgroup_remove(const char *controller, const char *name, struct ms_error *err)
{
	return ms_fail(err,
		       "the cgroup %s of the controller %s cannot be removed: expected slurm-lwk "
		       "built with libcgroup, found it without; build it with libcgroup, or use "
		       "cgroup version 2",
		       name, controller);
}

#endif
