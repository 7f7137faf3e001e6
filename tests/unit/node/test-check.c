// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what 'lwkctl check' finds: Slurm's answers of a node where all is well, with one thing
 * changed at a time, and what the kernel and the installed files of the node lack.
 */
#include "unit/unit.h"

#include <elf.h>
#include <errno.h>

#include "base/files.h"
#include "driver/driver.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "node/check/check.h"
#include "node/check/scontrol.h"
#include "store/record.h"

static const char good_slurm[] = "Configuration data as of 2026-11-21T15:38:28\n"
				 "BatchStartTimeout       = 120 sec\n"
				 "HealthCheckProgram      = (null)\n"
				 "JobContainerType        = job_container/lwk\n"
				 "PlugStackConfig         = (null)\n"
				 "PluginDir               = /nowhere\n"
				 "PreemptMode             = OFF\n"
				 "ProctrackType           = proctrack/cgroup\n"
				 "PrologEpilogTimeout     = 65534\n"
				 "PrologFlags             = Alloc,Contain\n"
				 "SLURM_VERSION           = 22.05.8\n"
				 "SelectType              = select/cons_tres\n"
				 "SelectTypeParameters    = CR_CORE_MEMORY\n"
				 "SlurmdParameters        = config_overrides\n"
				 "TaskPlugin              = task/affinity,task/cgroup\n"
				 "TaskPluginParam         = none\n"
				 "\n"
				 "Cgroup Support Configuration:\n"
				 "ConstrainCores          = yes\n"
				 "ConstrainRAMSpace       = yes\n";

static const char good_node[] =
	"NodeName=n1 CPUTot=8 RealMemory=2688 AllocMem=0 FreeMem=2289 CoreSpecCount=1 "
	"CPUSpecList=0  State=IDLE ThreadsPerCore=1 Partitions=main,more BootTime=2026 "
	"Version=22.05.8\n";

static const char good_partitions[] =
	"PartitionName=ma Nodes=n2 OverSubscribe=FORCE:4 PreemptMode=SUSPEND State=UP\n"
	"PartitionName=main Nodes=n1 OverSubscribe=NO PreemptMode=OFF State=UP\n"
	"PartitionName=more Nodes=n1 OverSubscribe=EXCLUSIVE PreemptMode=OFF State=UP\n";

static struct heard {
	char problems[4096], notes[4096];
	int n_problems, n_notes, n_fine;
} heard;

static void hear(const struct ms_finding *finding, void *context)
{
	char line[2048];

	/* The place of Slurm's files on this host does not matter here. */
	if (strcmp(finding->subject, "plugstack") == 0)
		return;
	snprintf(line, sizeof(line), "%s: %s -> %s\n", finding->subject, finding->text,
		 finding->to_do ? finding->to_do : "");
	switch (finding->level) {
	case MS_PROBLEM:
		heard.n_problems++;
		strncat(heard.problems, line, sizeof(heard.problems) - strlen(heard.problems) - 1);
		break;
	case MS_NOTE:
		heard.n_notes++;
		strncat(heard.notes, line, sizeof(heard.notes) - strlen(heard.notes) - 1);
		break;
	default:
		heard.n_fine++;
	}
}

static struct ms_config config;

/* Copies 'text', which must have 'old', and replaces that. */
static char *changed(const char *text, const char *old, const char *new)
{
	const char *at = old ? strstr(text, old) : NULL;
	char *copy;

	if (!at)
		return strdup(text);
	assert_true(asprintf(&copy, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old)) > 0);
	return copy;
}

static void check_slurm(struct checking *checking)
{
	check_plugstack(checking);
	check_settings(checking);
	check_releases(checking);
	check_slurm_node(checking);
}

/* Looks at Slurm's answers with 'old' replaced in whichever of them it is. */
static void look(const char *old, const char *new)
{
	struct checking checking = {
		.hear = hear,
		.config = &config,
		.slurm = changed(good_slurm, old, new),
		.node = changed(good_node, old, new),
		.partitions = changed(good_partitions, old, new),
		.json = strdup("{"),
	};

	assert_true(!old || strstr(good_slurm, old) || strstr(good_node, old) ||
		    strstr(good_partitions, old));
	memset(&heard, 0, sizeof(heard));
	check_slurm(&checking);
	free(checking.slurm);
	free(checking.node);
	free(checking.partitions);
	free(checking.json);
}

static int setup(void **state)
{
	if (unit_setup(state) < 0)
		return -1;
	files_root = unit_dir;
	unit_file("proc/meminfo", "MemTotal:        3000000 kB\n");
	memset(&config, 0, sizeof(config));
	config.linux_cpus = 1;
	config.switch_timeout_ms = 60000;
	config.os_cpus = hwloc_bitmap_alloc();
	hwloc_bitmap_set(config.os_cpus, 0);
	return 0;
}

static int teardown(void **state)
{
	hwloc_bitmap_free(config.os_cpus);
	files_root = "";
	return unit_teardown(state);
}

static void all_is_well(void **state)
{
	look(NULL, NULL);
	assert_string_equal(heard.problems, "");
	assert_string_equal(heard.notes, "");
	assert_true(heard.n_fine > 15);
}

static void each_wrong_setting_is_one_finding(void **state)
{
	static const struct {
		bool problem;
		const char *old, *new, *found, *to_do;
	} cases[] = {
		{ true, "Alloc,Contain", "Contain", "PrologFlags=Contain lacks Alloc",
		  "PrologFlags=Alloc,Contain" },
		{ true, "Alloc,Contain", "Alloc,Containers", "lacks Contain",
		  "PrologFlags=Alloc,Contain" },
		{ true, "Alloc,Contain", "X11,Alloc", "lacks Contain",
		  "PrologFlags=Alloc,Contain,X11" },
		{ true, "config_overrides", "(null)", "would be drained",
		  "write SlurmdParameters=config_overrides in slurm.conf" },
		{ false, "= none", "= (null)", "TaskPluginParam=(null) lacks none",
		  "TaskPluginParam=none" },
		{ false, "task/affinity,task/cgroup", "task/affinity", "lacks task/cgroup",
		  "TaskPlugin=task/affinity,task/cgroup" },
		{ false, "proctrack/cgroup", "proctrack/linuxproc", "proxies of its LWK too",
		  "ProctrackType=proctrack/cgroup" },
		{ false, "ConstrainCores          = yes", "ConstrainCores          = no",
		  "other jobs' CPUs", "cgroup.conf" },
		{ false, "ConstrainRAMSpace       = yes", "ConstrainRAMSpace       = no",
		  "more memory", "cgroup.conf" },
		{ true, "PreemptMode             = OFF", "PreemptMode             = SUSPEND",
		  "while it is suspended", "PreemptMode=REQUEUE" },
		{ true, "PreemptMode             = OFF", "PreemptMode             = GANG",
		  "take turns", "PreemptMode=REQUEUE" },
		{ true, "job_container/lwk", "job_container/tmpfs", "is not configured",
		  "job_container/lwk" },
		{ true, "job_container/lwk", "job_container/lwk,tmpfs", "private view", "last" },
		{ true, "CR_CORE_MEMORY", "CR_CORE", "no memory to jobs", "CR_Core_Memory" },
		{ false, "120 sec", "10 sec", "BatchStartTimeout=10 is not more than",
		  "BatchStartTimeout=120" },
		{ false, "65534", "60", "PrologEpilogTimeout=60 is not more than",
		  "PrologEpilogTimeout=120" },
		{ false, "PrologEpilogTimeout     = 65534",
		  "PrologTimeout = 60\nEpilogTimeout = 65534", "PrologTimeout=60 is not more than",
		  "PrologTimeout=120" },
		{ false, "PrologEpilogTimeout     = 65534",
		  "EpilogTimeout = 60\nPrologTimeout = (null)", "EpilogTimeout=60 is not more than",
		  "EpilogTimeout=120" },
		{ false, "HealthCheckProgram      = (null)",
		  "HealthCheckProgram      = /usr/sbin/nhc", "/usr/sbin/nhc must not drain",
		  "lwkctl status" },
		{ true, "OverSubscribe=NO", "OverSubscribe=FORCE:2",
		  "partition main has OverSubscribe=FORCE:2", "OverSubscribe=NO" },
		{ false, "OverSubscribe=NO", "OverSubscribe=YES:4", "jobs that ask for it",
		  "OverSubscribe=NO" },
		{ true, "OverSubscribe=EXCLUSIVE PreemptMode=OFF",
		  "OverSubscribe=EXCLUSIVE PreemptMode=SUSPEND",
		  "partition more has PreemptMode=SUSPEND", "PreemptMode=REQUEUE" },
		{ false, "CPUSpecList=0 ", "CPUSpecList=7 ", "CPU 0 can never go",
		  "CoreSpecCount" },
		{ false, "SLURM_VERSION           = 22.05.8", "SLURM_VERSION           = 26.05.0",
		  "slurmctld is 26.05.0, slurmd still 22.05.8", "end the upgrade" },
		{ true, "Version=22.05.8", "Version=24.11.5",
		  "slurmd is 24.11.5, newer than slurmctld, 22.05.8", "upgrade slurmctld" },
		{ false, "RealMemory=2688", "RealMemory=2929",
		  "promises jobs 2929 MB, but Linux can spare at most 2801 MB", "RealMemory=2801" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		look(cases[i].old, cases[i].new);
		assert_has(cases[i].problem ? heard.problems : heard.notes, cases[i].found);
		assert_has(cases[i].problem ? heard.problems : heard.notes, cases[i].to_do);
		assert_int_equal(heard.n_problems, cases[i].problem);
	}
}

static void settings_that_do_no_harm(void **state)
{
	static const char *const cases[][2] = {
		{ "job_container/lwk", "job_container/tmpfs,lwk" },
		{ "JobContainerType        = job_container/lwk", "NamespaceType = namespace/lwk" },
		{ "OverSubscribe=NO", "OverSubscribe=FORCE:1" },
		{ "PreemptMode             = OFF", "PreemptMode             = REQUEUE" },
		{ "CR_CORE_MEMORY", "CR_CPU_MEMORY" }, /* one thread a core */
		{ "RealMemory=2688", "RealMemory=2929 MemSpecLimit=200" },
		{ "PrologEpilogTimeout     = 65534", "PrologEpilogTimeout     = (null)" },
		{ "HealthCheckProgram      = (null)",
		  "HealthCheckProgram      = /usr/lib/slurm-lwk/lwk-feature" },
		{ "Alloc,Contain", "Contain,NoHold,alloc" },
		{ "Version=22.05.8", "Version=22.05.9" },
		{ "Version=22.05.8", "Version=" }, /* not registered yet */
		{ "SLURM_VERSION           = 22.05.8", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		look(cases[i][0], cases[i][1]);
		assert_string_equal(heard.problems, "");
		assert_string_equal(heard.notes, "");
	}
}

static void keep_plugstack(const struct ms_finding *finding, void *context)
{
	*(struct ms_finding *)context = *finding;
}

static void plugstack_is_beside_slurm_conf(void **state)
{
	struct ms_finding found;
	struct checking checking = { .hear = keep_plugstack, .context = &found };
	char *slurm;

	assert_true(asprintf(&slurm, "%sSLURM_CONF = %s/slurm.conf\n", good_slurm, unit_dir) > 0);
	checking.slurm = slurm;
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_PROBLEM);
	unit_file("plugstack.conf", "required lwk.so\n");
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_FINE);
	free(slurm);
}

static void plugstack_of_a_configless_node(void **state)
{
	struct ms_finding found;
	struct checking checking = { .hear = keep_plugstack, .context = &found };
	char *slurm;

	files_root = unit_dir;
	assert_true(asprintf(&slurm, "%sSLURM_CONF = %s/controllers/slurm.conf\n", good_slurm,
			     unit_dir) > 0);
	checking.slurm = slurm;
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_PROBLEM);
	unit_file("run/slurm/conf/plugstack.conf", "required lwk.so\n");
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_FINE);
	/* A file of the node's own goes first. */
	unit_file("controllers/plugstack.conf", "optional lwk.so\n");
	check_plugstack(&checking);
	assert_int_equal(found.level, MS_PROBLEM);
	files_root = "";
	free(slurm);
}

static void half_cores(void **state)
{
	look("ThreadsPerCore=1", "ThreadsPerCore=2");
	assert_int_equal(heard.n_problems + heard.n_notes, 0);
	struct checking checking = {
		.hear = hear,
		.config = &config,
		.slurm = changed(good_slurm, "CR_CORE_MEMORY", "CR_CPU_MEMORY"),
		.node = changed(good_node, "ThreadsPerCore=1", "ThreadsPerCore=2"),
	};
	check_slurm(&checking);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "half a core");
	free(checking.slurm);
	free(checking.node);
}

static void no_assistant_cpu(void **state)
{
	config.linux_cpus = 0;
	look(NULL, NULL);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "with LinuxCpus=0: task/affinity starts no task");
	look("task/affinity,task/cgroup", "task/cgroup");
	assert_string_equal(heard.problems, "");
	hwloc_bitmap_set(config.os_cpus, 4);
	look("task/affinity,task/cgroup", "task/cgroup");
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "runs on CPUs 0,4, but Slurm keeps only CPUs 0");
}

static void os_cpus_and_the_spec_list_differ(void **state)
{
	look("CPUSpecList=0 ", "CPUSpecList=0-1 ");
	assert_int_equal(heard.n_problems, 0);
	assert_has(heard.notes, "Slurm keeps CPUs 0-1 for the system, lwk.conf CPUs 0");
}

static void slurm_does_not_answer(void **state)
{
	struct checking checking = { .hear = hear, .config = &config };

	memset(&heard, 0, sizeof(heard));
	check_slurm(&checking);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "start slurmctld");
}

static void a_configuration_that_is_not_valid(void **state)
{
	struct checking checking = {
		.hear = hear,
		.slurm = changed(good_slurm, NULL, NULL),
		.node = changed(good_node, NULL, NULL),
	};

	memset(&heard, 0, sizeof(heard));
	check_slurm(&checking);
	assert_int_equal(heard.n_problems + heard.n_notes, 0);
	free(checking.slurm);
	free(checking.node);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* Looks at a node whose CPUs have this vulnerability; Linux describes it with this text. */
static void look_at_vulnerability(const char *name, const char *text)
{
	struct checking checking = { .hear = hear, .config = &config };

	unit_file("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
	unit_file("sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n");
	unit_file(name, "%s\n", text);
	memset(&heard, 0, sizeof(heard));
	check_vulnerabilities(&checking);
}

#define NEW "sys/devices/system/cpu/vulnerabilities/new_one"

static void a_vulnerability_that_linux_mitigates_and_the_lwk_does_not(void **state)
{
	look_at_vulnerability(NEW, "Mitigation: something");
	assert_has(heard.problems, "new_one (Mitigation: something); LWK jobs are refused");
	assert_has(heard.problems, "Vulnerabilities=accept");
	assert_null(strstr(heard.problems, "meltdown"));
	look_at_vulnerability(NEW, "KVM: Mitigation: VMX disabled");
	assert_int_equal(heard.n_problems, 1);
	config.accept_vulnerabilities = true;
	look_at_vulnerability(NEW, "Mitigation: something");
	assert_string_equal(heard.problems, "");
	assert_has(heard.notes, "new_one (Mitigation: something); Vulnerabilities=accept has");
}

static void a_vulnerability_that_linux_does_nothing_about(void **state)
{
	look_at_vulnerability(NEW, "Vulnerable");
	assert_int_equal(heard.n_fine, 1);
	look_at_vulnerability(NEW, "Not affected");
	assert_int_equal(heard.n_fine, 1);
}

static void a_kernel_that_does_not_tell_of_vulnerabilities(void **state)
{
	struct checking checking = { .hear = hear, .config = &config };

	memset(&heard, 0, sizeof(heard));
	check_vulnerabilities(&checking);
	assert_has(heard.notes, "does not tell which vulnerabilities");
}

/* ---- releases: plugins, modules ---- */

/* The parts of a shared object that says which release of Slurm it is for. */
struct plugin_file {
	Elf64_Ehdr header;
	Elf64_Shdr sections[4]; /* none, symbols, names, data */
	Elf64_Sym symbols[2];
	char names[16];
	uint32_t version;
};

static void write_plugin(const char *name, uint32_t version)
{
#define PLACE(part) .sh_offset = offsetof(struct plugin_file, part), .sh_size = sizeof(plugin.part)
	struct plugin_file plugin = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_shoff = offsetof(struct plugin_file, sections),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 4 },
		.sections = { { 0 },
			      { .sh_type = SHT_DYNSYM,
				PLACE(symbols),
				.sh_link = 2,
				.sh_entsize = sizeof(Elf64_Sym),
				.sh_addralign = 8 },
			      { .sh_type = SHT_STRTAB, PLACE(names), .sh_addralign = 1 },
			      { .sh_type = SHT_PROGBITS,
				PLACE(version),
				.sh_addr = 0x2000,
				.sh_addralign = 4 } },
		.symbols = { { 0 },
			     { .st_name = 1, .st_shndx = 3, .st_value = 0x2000, .st_size = 4 } },
		.names = "\0plugin_version",
		.version = version,
	};
	FILE *file = fopen(unit_file(name, "x"), "w");

	assert_non_null(file);
	assert_int_equal(fwrite(&plugin, sizeof(plugin), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

/*
 * Looks at a cluster of this release whose plugins are in the test's directory, and whose scontrol
 * answers 'json' when it is asked for JSON; NULL: it gives no answer.
 */
static void look_at_release(const char *release, char *json)
{
	char *dir = changed(good_slurm, "/nowhere", unit_dir), *node;
	struct checking checking = { .hear = hear, .config = &config, .json = json };

	checking.slurm = changed(dir, "22.05.8", release);
	node = checking.node = changed(good_node, "22.05.8", release);
	memset(&heard, 0, sizeof(heard));
	check_releases(&checking);
	free(checking.slurm);
	free(node);
	free(dir);
}

static void look_at_plugins(const char *release)
{
	look_at_release(release, "{ }");
}

static void a_scontrol_without_json(void **state)
{
	look_at_release("22.05.8", NULL);
	assert_int_equal(heard.n_problems, 0);
	look_at_release("24.11.5", "{ }");
	assert_int_equal(heard.n_problems, 0);
	look_at_release("24.11.5", NULL);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "found no answer: each LWK job would fail in its prolog");
	assert_has(heard.problems, "serializer_json");
	look_at_release("24.11.5", "Unknown option");
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "found another text");
}

static void a_plugin_for_another_release_of_slurm(void **state)
{
	write_plugin("lwk.so", 22 << 16 | 5 << 8 | 8);
	write_plugin("job_container_lwk.so", 22 << 16 | 5 << 8 | 8);
	look_at_plugins("22.05.8");
	assert_int_equal(heard.n_fine, 3);
	assert_int_equal(heard.n_problems + heard.n_notes, 0);
	look_at_plugins("22.05.9");
	assert_int_equal(heard.n_problems, 0);
	assert_int_equal(heard.n_notes, 1);
	assert_has(heard.notes,
		   "job_container_lwk.so is built for Slurm 22.05.8, and slurmd is 22.05.9");
	look_at_plugins("24.11.5");
	assert_int_equal(heard.n_problems, 2);
	assert_has(heard.problems, "/lwk.so is built for Slurm 22.05.8, and slurmd is 24.11.5");
	assert_has(heard.problems, "headers of Slurm 24.11.5");
	/* From 25.11 on, Slurm does not look at a plugin of type job_container. */
	look_at_plugins("25.11.0");
	assert_int_equal(heard.n_problems, 1);
	unit_file("lwk.so", "no ELF file");
	look_at_plugins("25.11.0");
	assert_int_equal(heard.n_problems, 0);
}

static int no_device(struct ms_error *err)
{
	return -ENOENT;
}

static void a_module_for_another_kernel(void **state)
{
	static const struct driver driver = { .module = "lwk-of-tests", .open = no_device };
	struct checking checking = { .hear = hear };

	memset(&heard, 0, sizeof(heard));
	check_driver(&checking, &driver);
	assert_has(heard.problems, "lwk-of-tests cannot be loaded: ");
	unit_file("lib/modules/4.18.0-1/modules.dep",
		  "kernel/a.ko:\nextra/lwk-of-tests.ko.xz: b.ko\n");
	unit_file("lib/modules/5.14.0-2/modules.dep", "kernel/a.ko: extra/lwk-of-tests.ko\n");
	memset(&heard, 0, sizeof(heard));
	check_driver(&checking, &driver);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "lwk-of-tests is installed for Linux 4.18.0-1, but Linux ");
	assert_has(heard.problems, "dkms autoinstall -k ");
}

static int any_device(struct ms_error *err)
{
	return 0;
}

static void no_close(int dev)
{
}

static void a_module_of_another_release(void **state)
{
	static const struct driver driver = { .module = "lwk-of-tests",
					      .open = any_device,
					      .close = no_close };
	struct checking checking = { .hear = hear };

	unit_file("sys/module/lwk-of-tests/version", PACKAGE_VERSION "\n");
	memset(&heard, 0, sizeof(heard));
	check_driver(&checking, &driver);
	assert_int_equal(heard.n_fine, 1);
	unit_file("sys/module/lwk-of-tests/version", "0.0.1\n");
	memset(&heard, 0, sizeof(heard));
	check_driver(&checking, &driver);
	assert_has(heard.notes,
		   "of slurm-lwk 0.0.1 is loaded, and the rest is of " PACKAGE_VERSION);
}

static int device_of_another_abi(struct ms_error *err)
{
	ms_fail(err, "expected ABI version 9, found 8 loaded");
	return -EPROTO;
}

static void a_module_of_another_abi(void **state)
{
	static const struct driver driver = { .module = "lwk-of-tests",
					      .open = device_of_another_abi };
	struct checking checking = { .hear = hear };

	memset(&heard, 0, sizeof(heard));
	check_driver(&checking, &driver);
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "expected ABI version 9, found 8 loaded");
	assert_has(heard.problems, "'lwkctl list'");
}

/* ---- what the kernel lacks ---- */

static void look_at_cgroups(const char *mounts, const char *plugin)
{
	char *slurm = NULL;
	struct checking checking = { .hear = hear };

	assert_true(asprintf(&slurm, "%sCgroupPlugin = %s\n", good_slurm, plugin) > 0);
	checking.slurm = slurm;
	unit_file("proc/self/mounts", "%s", mounts);
	memset(&heard, 0, sizeof(heard));
	check_cgroups(&checking);
	free(slurm);
}

static void two_versions_of_cgroups(void **state)
{
	static const char version_1[] = "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"
					"cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n";
	static const char version_2[] = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
	static const char mixed[] = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
				    "cgroup /mnt/memory cgroup rw,memory 0 0\n";

	look_at_cgroups(version_1, "autodetect");
	assert_int_equal(heard.n_fine, 1);
	look_at_cgroups(version_1, "cgroup/v2");
	assert_has(heard.problems, "CgroupPlugin=cgroup/v2, but this node uses cgroup version 1");
	unit_file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory pids\n");
	look_at_cgroups(version_2, "autodetect");
	assert_int_equal(heard.n_fine, 1);
	look_at_cgroups(version_2, "cgroup/v1");
	assert_has(heard.problems, "CgroupPlugin=cgroup/v1, but this node uses cgroup version 2");
	assert_has(heard.problems, "CgroupPlugin=autodetect");
	look_at_cgroups(mixed, "autodetect");
	assert_has(heard.problems, "version 1 has these controllers: memory;");
	assert_has(heard.problems, "systemd.unified_cgroup_hierarchy=1");
}

static void tricks_that_are_off(void **state)
{
	struct checking checking = { .hear = hear };

	memset(&heard, 0, sizeof(heard));
	check_tricks(&checking);
	assert_int_equal(heard.n_fine + heard.n_notes, 0); /* lwkpart is not loaded */
	unit_file("sys/module/lwkpart/parameters/tricks_off", "\n");
	check_tricks(&checking);
	assert_int_equal(heard.n_fine, 1);
	unit_file("sys/module/lwkpart/parameters/tricks_off", "calls,new-one\n");
	check_tricks(&checking);
	assert_has(heard.notes, "internals: calls,new-one; delegated calls take longer -> ");
}

static void fred(void **state)
{
	struct checking checking = { .hear = hear };

	memset(&heard, 0, sizeof(heard));
	unit_file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme lkgs\n\n");
	check_fred(&checking);
	assert_int_equal(heard.n_problems, 0);
	unit_file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu fred lkgs\n\n");
	check_fred(&checking);
	assert_has(heard.problems, "Linux uses FRED");
	assert_has(heard.problems, "boot with fred=off");
}

static void numbers_of_cpus_with_holes(void **state)
{
	static const struct {
		const char *text;
		unsigned problems;
	} cases[] = { { "pu:4", 0 }, { "pack:2 core:2 pu:1(indexes=0,2,4,6)", 1 } };
	struct checking checking = { .hear = hear };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		hwloc_topology_t topology;

		snprintf(path, sizeof(path), "%s/topology.xml", state_dir);
		assert_int_equal(hwloc_topology_init(&topology), 0);
		assert_int_equal(hwloc_topology_set_synthetic(topology, cases[i].text), 0);
		assert_int_equal(hwloc_topology_load(topology), 0);
		assert_int_equal(hwloc_topology_export_xml(topology, path, 0), 0);
		hwloc_topology_destroy(topology);
		memset(&heard, 0, sizeof(heard));
		check_cpu_numbers(&checking);
		assert_int_equal(heard.n_problems, cases[i].problems);
	}
	assert_has(heard.problems, "the CPUs on-line are 0,2,4,6: ");
}

/* ---- jobs that are over ---- */

static void make_active(uint32_t job_id)
{
	struct ms_job job = { .job_id = job_id,
			      .uid = 1000,
			      .state = MS_JOB_ACTIVE,
			      .instance = 0,
			      .since_boot = job_id };
	struct ms_error err;

	job.lwk_cpus = hwloc_bitmap_alloc();
	job.linux_cpus = hwloc_bitmap_alloc();
	job.nodes = hwloc_bitmap_alloc();
	assert_int_equal(record_publish(&job, &err), 0);
	ms_job_release(&job);
}

/*
 * Has a scontrol that knows jobs as slurmctld does, and notes how it drains the node. 'before' is done
 * when it is asked for a job.
 */
static void make_scontrol(const char *before)
{
	static char path[512];

	snprintf(
		path, sizeof(path), "%s",
		unit_file(
			"scontrol",
			"#!/bin/sh\n"
			"if [ $1 = update ]; then echo \"$*\" >>%s/drained; exit; fi\n"
			"%s\n"
			"case $5 in\n"
			"1) echo 'JobId=1 JobName=a JobState=RUNNING Reason=None' ;;\n"
			"2) echo 'JobId=2 JobName=a JobState=COMPLETED Reason=None' ;;\n"
			"3) echo 'JobId=3 JobName=a JobState=COMPLETING Reason=None' ;;\n"
			"4) echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1 ;;\n"
			"5) echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2\n"
			"   exit 1 ;;\n"
			"6) echo 'JobId=16 ArrayJobId=6 JobState=RUNNING'\n"
			"   echo 'JobId=6 ArrayJobId=6 JobName=JobState=RUNNING JobState=PENDING' ;;\n"
			"7) echo 'JobId=17 ArrayJobId=7 JobState=COMPLETED' ;;\n"
			"8) echo 'JobId=8 JobState=SOMETHING_NEW' ;;\n"
			"esac\n",
			unit_dir, before));
	assert_int_equal(chmod(path, 0755), 0);
	scontrol_path = path;
}

static void look_for_over(void)
{
	struct checking checking = { .hear = hear, .slurm = strdup(good_slurm) };

	memset(&heard, 0, sizeof(heard));
	check_over(&checking);
	free(checking.slurm);
}

static char said[4096];

static void note_said(const char *line, void *context)
{
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

/* Only what slurmctld says for sure makes a job over. */
static void jobs_that_are_over_are_found_and_repaired(void **state)
{
	struct ms_error err;

	if (geteuid() != 0)
		skip();
	make_scontrol("");
	for (uint32_t id = 1; id <= 8; id++)
		make_active(id);
	look_for_over();
	assert_int_equal(heard.n_problems, 3);
	assert_has(heard.problems, "jobs: job 2 is over");
	assert_has(heard.problems, "job 4 is over");
	assert_has(heard.problems, "job 6 is over");
	assert_has(heard.problems, "run 'lwkctl check --repair'");
	*said = '\0';
	if (ms_repair_over(note_said, NULL, &err) < 0)
		fail_msg("%s", err.text);
	assert_has(said, "job 2, which is over:");
	for (uint32_t id = 1; id <= 8; id++) {
		char name[32];

		snprintf(name, sizeof(name), "jobs/%u.json", id);
		assert_int_equal(unit_exists(name), id != 2 && id != 4 && id != 6);
	}
	assert_false(unit_exists("drained"));
	look_for_over();
	assert_int_equal(heard.n_problems, 0);
}

/* The job is requeued, and runs again, just after slurmctld has answered. */
static void a_job_that_runs_again_is_left_alone(void **state)
{
	char again[256];
	struct ms_error err;

	if (geteuid() != 0)
		skip();
	make_active(2);
	snprintf(again, sizeof(again),
		 "sed -i 's/\"since_boot\":2/\"since_boot\":9/' %s/jobs/2.json", unit_dir);
	make_scontrol(again);
	*said = '\0';
	assert_int_equal(ms_repair_over(note_said, NULL, &err), 0);
	assert_string_equal(said, "");
	assert_has(unit_read("jobs/2.json"), "\"since_boot\":9");
}

static void a_node_that_cannot_be_repaired_is_drained(void **state)
{
	struct ms_error err;

	if (geteuid() != 0)
		skip();
	make_scontrol("");
	make_active(2);
	unit_file("jobs/2.journal", "rubbish\n");
	assert_int_equal(ms_repair_over(note_said, NULL, &err), -1);
	assert_has(err.text, "2.journal: line 1 is damaged");
	assert_has(err.text, "; this node is drained");
	assert_has(unit_read("drained"), "update NodeName=");
	assert_has(unit_read("drained"), " State=DRAIN Reason=lwk: job 2: ");
	/* A second call finds a job that is stuck, which is ms_repair()'s. */
	assert_int_equal(ms_repair_over(note_said, NULL, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_is_well),
		TEST(each_wrong_setting_is_one_finding),
		TEST(settings_that_do_no_harm),
		TEST(plugstack_is_beside_slurm_conf),
		TEST(plugstack_of_a_configless_node),
		TEST(half_cores),
		TEST(no_assistant_cpu),
		TEST(os_cpus_and_the_spec_list_differ),
		TEST(slurm_does_not_answer),
		TEST(a_configuration_that_is_not_valid),
		TEST(a_vulnerability_that_linux_mitigates_and_the_lwk_does_not),
		TEST(a_vulnerability_that_linux_does_nothing_about),
		TEST(a_kernel_that_does_not_tell_of_vulnerabilities),
		TEST(a_scontrol_without_json),
		TEST(a_plugin_for_another_release_of_slurm),
		TEST(a_module_for_another_kernel),
		TEST(a_module_of_another_release),
		TEST(a_module_of_another_abi),
		TEST(two_versions_of_cgroups),
		TEST(tricks_that_are_off),
		TEST(fred),
		TEST(numbers_of_cpus_with_holes),
		TEST(jobs_that_are_over_are_found_and_repaired),
		TEST(a_job_that_runs_again_is_left_alone),
		TEST(a_node_that_cannot_be_repaired_is_drained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
