// SPDX-License-Identifier: GPL-2.0-or-later
#include "machine/signatures.h"

#include <string.h>

#include "base/files.h"

static bool file_has(const char *path, const char *text)
{
	char found[256];

	return kernel_read(found, sizeof(found), "%s", path) > 0 && strstr(found, text);
}

bool signatures_wanted(void)
{
	/* lockdown's file needs securityfs, which systemd mounts. */
	return file_has("/sys/module/module/parameters/sig_enforce", "Y") ||
	       file_has("/sys/kernel/security/lockdown", "[integrity]") ||
	       file_has("/sys/kernel/security/lockdown", "[confidentiality]");
}
