// SPDX-License-Identifier: GPL-2.0-or-later
#include "option_forms.h"

#include <slurm/spank.h>
#include <string.h>

#include "modeswitch/config.h"
#include "command/mpi_place.h"

bool form_has_argument(const char *arg)
{
	return arg && *arg && strcmp(arg, "(null)");
}

int form_image(const char *arg, struct ms_error *err)
{
	if (!form_has_argument(arg) || ms_image_name_valid(arg))
		return 0;
	return ms_fail(err,
		       "expected the name of an LWK image (a letter or digit, then letters, "
		       "digits, '.', '_' or '-', at most %d characters in all), found \"%s\"; "
		       "leave the name out for the site's default image",
		       MS_IMAGE_NAME_MAX, arg);
}

int form_launch(const char *arg, struct ms_error *err)
{
	if (!strcmp(arg, "auto") || !strcmp(arg, "none"))
		return 0;
	return ms_fail(err, "expected \"auto\" or \"none\", found \"%s\"", arg);
}

int form_memory(const char *arg, struct ms_error *err)
{
	struct ms_amount amount;

	return ms_parse_amount(arg, &amount, err);
}

int form_numa(const char *arg, struct ms_error *err)
{
	struct ms_numa numa;

	if (ms_parse_numa(arg, &numa, err) < 0)
		return -1;
	ms_numa_release(&numa);
	return 0;
}

int form_proxy_memory(const char *arg, struct ms_error *err)
{
	uint64_t bytes;

	return ms_parse_proxy_memory(arg, &bytes, err);
}

int form_mpi_profile(const char *arg, struct ms_error *err)
{
	if (!form_has_argument(arg) || strlen(arg) < FORM_PROFILE_MAX)
		return 0;
	return ms_fail(err, "expected a path of less than %d characters, found %zu of them",
		       FORM_PROFILE_MAX, strlen(arg));
}

bool form_is_collectives(const char *arg)
{
	return !strcmp(arg, "sites") || !strcmp(arg, "sites,reproducible");
}

int form_mpi_collectives(const char *arg, struct ms_error *err)
{
	if (form_is_collectives(arg))
		return 0;
	return ms_fail(err, "expected \"sites\" or \"sites,reproducible\", found \"%s\"", arg);
}

int form_mpi_place(const char *arg, struct ms_error *err)
{
	/* srun has to know the nodes before it lays out the step. */
	return spank_context() == S_CTX_LOCAL ? mpi_place_choose(arg, err) : 0;
}
