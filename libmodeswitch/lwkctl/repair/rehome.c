// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl rehome: brings memory home that was moved away for LWK jobs. */
#include <linux/capability.h>
#include <stdio.h>

#include "lwkctl/common.h"
#include "lwkctl/confine.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/migrate.h"

/*
 * lwkctl rehome moves pages of all users' processes, by lwkpart.ko too, and writes their cpusets.
 */
#define CAPABILITIES                                                                               \
	(CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_SYS_NICE) | CAPABILITY(CAP_SYS_PTRACE) |       \
	 CAPABILITY(CAP_DAC_OVERRIDE))
#define CALLS                                                                                                \
	"clone close_range ftruncate getppid getpriority ioctl kill move_pages pidfd_open pipe2 poll prctl " \
	"prlimit64 process_vm_readv sendto set_robust_list setpriority wait4"

static int run(const struct options *options)
{
	struct ms_config *config;
	struct ms_error err;
	bool said = false;
	int ret;

	if (ms_config_load(options->config, &config, &err) < 0)
		return fail(&err);
	ret = confine(CAPABILITIES, CALLS, &err);
	if (ret == 0)
		ret = ms_rehome(config, print_line, &said, &err);
	ms_config_free(config);
	if (ret < 0)
		return fail(&err);
	if (!said)
		puts("nothing was away");
	return EXIT_OK;
}

const struct verb verb_rehome = {
	.name = "rehome",
	.summary = "Bring memory home that was moved away for LWK jobs (root)",
	.help = "Moves memory of Linux jobs back to the NUMA nodes from which LWK jobs had pushed it, within "
		"RehomeCpu= and RehomeRate= of lwk.conf(5). The end of an LWK job starts this command. "
		"Root only.",
	.for_root = true,
	.options = (const struct argp_option[]){ CONFIG_OPTION, { 0 } },
	.run = run,
};
