// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for what keeps McKernel from booting, or jobs from getting what it needs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/files.h"
#include "driver/ihk/ihk.h"

#define SUBJECT "mckernel"

static void check_setting(const char *name, long wanted, const char *why, driver_tell tell,
			  void *context)
{
	char text[64], path[128], found[256], to_do[128];

	snprintf(path, sizeof(path), "/proc/sys/vm/%s", name);
	if (kernel_read(text, sizeof(text), "%s", path) < 0)
		return;
	snprintf(found, sizeof(found), "vm.%s is %s%s%s", name, text,
		 strtol(text, NULL, 10) == wanted ? "" : ": ",
		 strtol(text, NULL, 10) == wanted ? "" : why);
	snprintf(to_do, sizeof(to_do),
		 "write 'vm.%s = %ld' to a file in /etc/sysctl.d, and run 'sysctl --system'", name,
		 wanted);
	tell(strtol(text, NULL, 10) == wanted ? DRIVER_FINE : DRIVER_NOTE, SUBJECT,
	     strtol(text, NULL, 10) == wanted ? NULL : to_do, found, context);
}

/* IHK's modules are not loaded, and lwkpart.ko is. */
static bool is_compat(void)
{
	return access("/sys/module/lwkpart", F_OK) == 0 && access("/sys/module/ihk", F_OK) < 0;
}

/* McKernel is known to run beside Linux 3.10 to 4.18. */
static void check_kernel(driver_tell tell, void *context)
{
	unsigned major, minor;
	struct utsname name;
	char text[256];

	if (uname(&name) < 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return;
	if (major < 3 || (major == 3 && minor < 10) || (major == 4 && minor > 18) || major > 4) {
		snprintf(text, sizeof(text),
			 "expected Linux 3.10 to 4.18, for which IHK's modules are made, found %s",
			 name.release);
		tell(DRIVER_NOTE, SUBJECT,
		     "boot a kernel for which IHK and McKernel were built, or take LWK images of the "
		     "driver lwkpart",
		     text, context);
	}
}

static void check_modules(driver_tell tell, void *context)
{
	static const char *const modules[] = { "ihk", "ihk_smp_x86_64", "mcctrl" };
	char text[256];

	if (access("/sys/module/ihk", F_OK) < 0)
		return;
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/module/%s", modules[i]);
		if (access(path, F_OK) == 0)
			continue;
		snprintf(text, sizeof(text),
			 "expected IHK's module %s to be loaded, found ihk alone", modules[i]);
		tell(DRIVER_NOTE, SUBJECT,
		     "load it from McKernel's kmod directory before jobs begin, or name it in "
		     "/etc/modprobe.d, where modprobe finds it",
		     text, context);
	}
}

/* mcreboot.sh starts an irqbalance of its own. */
static void check_irqbalance(driver_tell tell, void *context)
{
	static const char *const units[] = { "/run/systemd/system/irqbalance_mck.service",
					     "/etc/systemd/system/irqbalance_mck.service",
					     "/usr/lib/systemd/system/irqbalance_mck.service" };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (access(units[i], F_OK) == 0) {
			tell(DRIVER_NOTE, SUBJECT,
			     "'systemctl disable --now irqbalance_mck': slurm-lwk keeps interrupts "
			     "away from LWKs itself, and mcreboot.sh ends the LWKs of all jobs",
			     "mcreboot.sh has installed an irqbalance of its own "
			     "(irqbalance_mck.service)",
			     context);
			return;
		}
	}
}

static void check_leftovers(driver_tell tell, void *context)
{
	static const char with_cpus[] =
		"if nobody needs it, remove it: 'ihkconfig 0 destroy %d', which ends it";
	static const char without_cpus[] =
		"if nobody needs it, remove it: 'ihkosctl %d boot', which fails but is needed, and "
		"'ihkconfig 0 destroy %d'";
	int list[IHK_MAX_OS], n;
	struct owned owned;
	char text[256], to_do[128];

	if (!ihk || owned_load(&owned))
		return;
	n = ihk_count(ihk->get_num_os_instances(0), IHK_MAX_OS);
	if (n > 0 && ihk->get_os_instances(0, list, n) != 0)
		n = 0;
	for (int i = 0; i < n; i++) {
		if (owned_find_instance(&owned, list[i]))
			continue;
		snprintf(
			text, sizeof(text),
			"IHK has the instance %d, which no LWK job has made: jobs leave it and what "
			"it has alone",
			list[i]);
		/* See make_removable() in instance.c. */
		snprintf(to_do, sizeof(to_do),
			 ihk->os_get_num_assigned_cpus(list[i]) == 0 ? without_cpus : with_cpus,
			 list[i], list[i]);
		tell(DRIVER_NOTE, SUBJECT, to_do, text, context);
	}
	owned_release(&owned);
}

/*
 * IHK makes its page tables by set_pgd(), for which, with page-table isolation, each top table is two pages
 * (pti_set_user_pgtbl() of Linux); IHK has one, so that Linux overwrites a page of somebody's.
 */
int ihk_check_isolation(struct ms_error *err)
{
	char text[256];

	if (!ihk_is_itself() ||
	    kernel_read(text, sizeof(text), "/sys/devices/system/cpu/vulnerabilities/meltdown") <
		    0 ||
	    !strstr(text, "PTI"))
		return 0;
	return ms_fail(
		err,
		"expected Linux without page-table isolation, under which IHK overwrites memory "
		"of Linux when it loads a kernel, found it on (%s); the administrator's remedy "
		"is to boot with pti=off, or CPUs that need no isolation",
		text);
}

void ihk_check(driver_tell tell, void *context)
{
	check_leftovers(tell, context);
	if (is_compat()) {
		tell(DRIVER_FINE, SUBJECT, NULL,
		     "IHK's modules are not loaded, and lwkpart.ko is: with the libihk.so of "
		     "slurm-lwk nothing else is needed",
		     context);
		return;
	}
	check_kernel(tell, context);
	check_modules(tell, context);
	check_setting("legacy_va_layout", 1,
		      "programs of McKernel want the addresses that it gives", tell, context);
	check_setting("swappiness", 100, "with less, Linux keeps memory that McKernel could have",
		      tell, context);
	check_irqbalance(tell, context);
}
