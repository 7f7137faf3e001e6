// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An LWK has one user, whole cores and memory that it clears before its first program runs. Its
 * page tables map nothing else. So a program that reads what it must not, by whatever means of its
 * CPU, finds its own user's data, and needs no wall between itself and the LWK. A wall is needed
 * where a CPU changes hands, and there the LWK and lwkpart.ko have the CPU forget its past.
 *
 * Whether that is enough must be decided for each vulnerability: doc/security.md says why it is for
 * those below. A later kernel may name others.
 */
#include "machine/vulnerabilities.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"

#define DIRECTORY "/sys/devices/system/cpu/vulnerabilities"

static const char *const decided[] = {
	"gather_data_sampling",	     /* by microcode, which stays as Linux has set it */
	"indirect_target_selection", /* from a program into its own LWK only */
	"itlb_multihit",	     /* the LWK forgets a large page before it makes small ones */
	"l1tf",			     /* no entry that is not present has a foreign address */
	"mds",			     /* the buffers are emptied when the CPU comes */
	"meltdown",		     /* what is mapped is the job's own */
	"mmio_stale_data",	     /* as mds */
	"old_microcode",	     /* nothing of its own */
	"reg_file_data_sampling",    /* as mds */
	"retbleed",		     /* as spectre_v2 */
	"spec_rstack_overflow",	     /* as spectre_v2 */
	"spec_store_bypass",	     /* within a program; stays as Linux has set it */
	"spectre_v1",		     /* from a program into its own LWK only */
	"spectre_v2",		     /* the branch predictors forget when the CPU comes and goes */
	"srbds",		     /* by microcode, which stays as Linux has set it */
	"tsa",			     /* as mds */
	"tsx_async_abort",	     /* as mds */
	"vmscape",		     /* an LWK has no guests */
};

static bool is_decided(const char *name)
{
	for (size_t i = 0; i < sizeof(decided) / sizeof(decided[0]); i++) {
		if (strcmp(decided[i], name) == 0)
			return true;
	}
	return false;
}

/* True when Linux mitigates the vulnerability; 'text' is Linux's description. */
static bool is_mitigated(const char *name, char *text, size_t size)
{
	return kernel_read(text, size, DIRECTORY "/%s", name) > 0 && strstr(text, "Mitigation");
}

int vulnerabilities_open(char *names, size_t size)
{
	char path[4096], text[512];
	struct dirent *entry;
	size_t at = 0;
	int n = 0;
	DIR *dir;

	*names = '\0';
	snprintf(path, sizeof(path), "%s" DIRECTORY, files_root);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.' || is_decided(entry->d_name) ||
		    !is_mitigated(entry->d_name, text, sizeof(text)))
			continue;
		if (at < size)
			at += snprintf(names + at, size - at, "%s%s (%s)", n ? ", " : "",
				       entry->d_name, text);
		n++;
	}
	closedir(dir);
	return n;
}
