// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading lwk.conf: defaults, keys, and errors. */
#include "unit/unit.h"

#include "config/configuration.h"
#include "modeswitch/config.h"

#define IMAGE "[image lwk]\nPath=/boot/lwk.elf\n"

static int parse_bytes(const char *text, size_t size, struct ms_config **config,
		       struct ms_error *err)
{
	FILE *file = fmemopen((char *)text, size, "r");
	int ret;

	assert_non_null(file);
	*err->text = '\0';
	ret = config_parse(file, "lwk.conf", config, err);
	fclose(file);
	return ret;
}

static int parse(const char *text, struct ms_config **config, struct ms_error *err)
{
	return parse_bytes(text, strlen(text), config, err);
}

static void defaults(void **state)
{
	struct ms_config *config;
	struct ms_error err;

	assert_int_equal(parse(IMAGE, &config, &err), 0);
	assert_int_equal(config->linux_cpus, 1);
	assert_int_equal(config->linux_memory, 64UL << 20);
	assert_int_equal(config->boot_timeout_ms, 10000);
	assert_int_equal(config->switch_timeout_ms, 60000);
	assert_int_equal(hwloc_bitmap_weight(config->os_cpus), 1);
	assert_true(hwloc_bitmap_isset(config->os_cpus, 0));
	assert_null(config->system_nodes);
	assert_int_equal(config->numa.policy, MS_NUMA_LOCAL);
	assert_false(config->proxy_limits_required);
	assert_int_equal(config->proxy_memory, 128UL << 20);
	assert_int_equal(config->proxy_cpu, 50);
	assert_int_equal(config->proxy_weight, 5);
	assert_int_equal(config->n_images, 1);
	assert_string_equal(config->images[0].name, "lwk");
	assert_string_equal(config->images[0].driver, "lwkpart");
	assert_string_equal(config->images[0].path, "/boot/lwk.elf");
	assert_string_equal(config->images[0].args, "");
	assert_false(config->images[0].is_default);
	ms_config_free(config);
}

static void everything(void **state)
{
	static const char text[] = "# a comment\n"
				   "; another\n"
				   "[NODE]\n"
				   "  linuxcpus = 2 ; inline\n"
				   "\tLinuxMemory=1G\n"
				   "OsCpus: 2-3\n"
				   "SystemNodes=0,2\n"
				   "Numa=bind=1,3\n"
				   "BootTimeout=3600\n"
				   "SwitchTimeout=1\n"
				   "KeepWarm=3600\n"
				   "DumpOnPanic=/var/dumps\n"
				   "\n"
				   "[image a]\n"
				   "Path=/a\n"
				   "[image  b.2]\n"
				   "Path=/b\n"
				   "Driver=lwkpart\n"
				   "Args=debug loglevel=7\n"
				   "Default=YES\n"
				   "[image a]\n"
				   "Default=no\r\n";
	struct ms_config *config;
	struct ms_error err;

	assert_int_equal(parse(text, &config, &err), 0);
	assert_int_equal(config->linux_cpus, 2);
	assert_int_equal(config->linux_memory, 1UL << 30);
	assert_int_equal(config->boot_timeout_ms, 3600000);
	assert_int_equal(config->switch_timeout_ms, 1000);
	assert_int_equal(config->keep_warm, 3600);
	assert_string_equal(config->dump_on_panic, "/var/dumps");
	/* The OS CPUs are the two that OsCpus names, and CPU 0. */
	assert_int_equal(hwloc_bitmap_weight(config->os_cpus), 3);
	assert_int_equal(hwloc_bitmap_weight(config->system_nodes), 2);
	assert_true(hwloc_bitmap_isset(config->system_nodes, 2));
	assert_int_equal(config->numa.policy, MS_NUMA_BIND);
	assert_int_equal(hwloc_bitmap_weight(config->numa.nodes), 2);
	assert_true(hwloc_bitmap_isset(config->numa.nodes, 3));
	assert_int_equal(config->n_images, 2);
	assert_string_equal(config->images[1].name, "b.2");
	assert_string_equal(config->images[1].args, "debug loglevel=7");
	assert_ptr_equal(ms_config_image(config, NULL, &err), &config->images[1]);
	assert_ptr_equal(ms_config_image(config, "", &err), &config->images[1]);
	assert_ptr_equal(ms_config_image(config, "a", &err), &config->images[0]);
	assert_null(ms_config_image(config, "A", &err));
	assert_has(err.text, "there are: a, b.2");
	ms_config_free(config);
}

static void no_system_nodes_is_not_the_default(void **state)
{
	struct ms_config *config;
	struct ms_error err;

	assert_int_equal(parse(IMAGE "[node]\nSystemNodes=none\n", &config, &err), 0);
	assert_non_null(config->system_nodes);
	assert_true(hwloc_bitmap_iszero(config->system_nodes));
	ms_config_free(config);
	assert_int_equal(parse(IMAGE "[node]\nSystemNodes=Auto\n", &config, &err), 0);
	assert_null(config->system_nodes);
	ms_config_free(config);
}

static void one_image_is_the_default_and_of_two_none(void **state)
{
	struct ms_config *config;
	struct ms_error err;

	assert_int_equal(parse(IMAGE, &config, &err), 0);
	assert_ptr_equal(ms_config_image(config, NULL, &err), &config->images[0]);
	ms_config_free(config);
	assert_int_equal(parse(IMAGE "[image x]\nPath=/x\n", &config, &err), 0);
	assert_null(ms_config_image(config, NULL, &err));
	assert_has(err.text, "--lwk=NAME: lwk, x");
	ms_config_free(config);
}

static void errors_tell_line_found_and_allowed(void **state)
{
	static const struct {
		const char *text, *at, *says;
	} bad[] = {
		{ "", "lwk.conf:", "at least one image" },
		{ "[node]\nLinuxCpus=1\n", "lwk.conf:", "at least one image" },
		{ "[image a]\nDefault=yes\n", "lwk.conf:", "[image a] lacks Path=" },
		{ "[image a]\nPath=/a\nDefault=yes\n[image b]\nPath=/b\nDefault=yes\n",
		  "lwk.conf:", "found two, a and b" },
		{ IMAGE "[node]\nLinuxCpu=1\n", "lwk.conf:4:",
		  "unknown key \"LinuxCpu\"; known here: LinuxCpus, LinuxMemory, OsCpus, "
		  "SystemNodes, Numa, VacateRate, VacateCpu, Rehome, RehomeRate, RehomeCpu, BootTimeout, HangTimeout, SwitchTimeout, "
		  "DumpOnPanic, KeepWarm, KernelCalls, ProxyLimits, ProxyMemory, ProxyMemoryPerGB, ProxyMemoryMax, ProxyCpu, ProxyWeight, ProxyPids, Vulnerabilities" },
		{ IMAGE "[node]\nProxyMemory=0\n", "lwk.conf:4:", "ProxyMemory: expected a size" },
		{ IMAGE "[node]\nProxyMemory=-8M\n", "lwk.conf:4:", "of 8M at least" },
		{ IMAGE "[node]\nProxyMemory=7M\n", "lwk.conf:4:", "found \"7M\"" },
		{ IMAGE "[node]\nProxyMemory=64\n", "lwk.conf:4:", "with its unit" },
		{ IMAGE "[node]\nProxyMemory=2G\n", "lwk.conf:", "raise ProxyMemoryMax=" },
		{ IMAGE "[node]\nProxyMemoryPerGB=2G\n", "lwk.conf:", "of 1G at most" },
		{ IMAGE "[node]\nProxyCpu=0%\n", "lwk.conf:4:", "expected 1% to 100%" },
		{ IMAGE "[node]\nProxyCpu=101%\n", "lwk.conf:4:", "expected 1% to 100%" },
		{ IMAGE "[node]\nProxyCpu=50\n", "lwk.conf:4:", "found \"50\"" },
		{ IMAGE "[node]\nProxyWeight=0%\n", "lwk.conf:4:", "expected 1% to 100%" },
		{ IMAGE "[node]\nProxyWeight=5\n", "lwk.conf:4:", "found \"5\"" },
		{ IMAGE "[node]\nProxyPids=0\n", "lwk.conf:4:", "from 8 to 4194304" },
		{ IMAGE "[node]\nProxyPids=9x\n", "lwk.conf:4:", "found \"9x\"" },
		{ IMAGE "[node]\nVulnerabilities=some\n",
		  "lwk.conf:4:", "expected refuse or accept, found \"some\"" },
		{ IMAGE "[node]\nProxyLimits=no\n",
		  "lwk.conf:4:", "expected require or available" },
		{ IMAGE "Pfad=/x\n",
		  "lwk.conf:3:", "known here: Driver, Path, Args, Library, Launcher, Default" },
		{ "\n[nodes]\nLinuxCpus=1\n" IMAGE,
		  "lwk.conf:3:", "unknown section \"[nodes]\"; known are [node] and [image NAME]" },
		{ "LinuxCpus=1\n" IMAGE, "lwk.conf:1:", "unknown section \"[]\"" },
		{ "[image]\nPath=/a\n", "lwk.conf:2:", "unknown section \"[image]\"" },
		{ "[image a/b]\nPath=/a\n", "lwk.conf:2:", "found \"a/b\"" },
		{ "[image abcdefghijklmnopqrstuvwxyz0123456]\nPath=/a\n",
		  "lwk.conf:2:", "expected an image name" },
		{ "[node\nLinuxCpus=1\n" IMAGE, "lwk.conf:1:", "found \"[node\"" },
		{ IMAGE "nonsense\n", "lwk.conf:3:", "expected KEY = VALUE" },
		{ IMAGE "Path=/b\n", "lwk.conf:3:", "expected Path once, found it on line 2, too" },
		{ "[node]\nOsCpus=1\noscpus=2\n" IMAGE, "lwk.conf:3:", "expected OsCpus once" },
		{ "[node]\n  LinuxCpus=1\n  LinuxCpus=2\n" IMAGE,
		  "lwk.conf:3:", "expected LinuxCpus once" },
		{ "[node]\nLinuxCpus=-1\n" IMAGE,
		  "lwk.conf:2:", "LinuxCpus: expected a number from 0 to 4096, found \"-1\"" },
		{ "[node]\nLinuxCpus=4097\n" IMAGE, "lwk.conf:2:", "found \"4097\"" },
		{ "[node]\nLinuxCpus=\n" IMAGE, "lwk.conf:2:", "found \"\"" },
		{ "[node]\nLinuxCpus=1 # no comment\n" IMAGE, "lwk.conf:2:", "# no comment" },
		{ "[node]\nLinuxMemory=64\n" IMAGE, "lwk.conf:2:",
		  "LinuxMemory: expected a size with its unit, such as 64M or 2G, found \"64\"" },
		{ "[node]\nOsCpus=3-1\n" IMAGE, "lwk.conf:2:", "OsCpus: expected a list of CPU" },
		{ "[node]\nSystemNodes=\n" IMAGE, "lwk.conf:2:",
		  "SystemNodes: expected auto, none, or a list of NUMA nodes such as 0,2-3, found" },
		{ "[node]\nSystemNodes=node0\n" IMAGE, "lwk.conf:2:", "found \"node0\"" },
		{ "[node]\nNuma=near\n" IMAGE, "lwk.conf:2:",
		  "Numa: expected local, interleave, or bind= with NUMA nodes such as bind=0,2-3, "
		  "found \"near\"" },
		{ "[node]\nNuma=bind=\n" IMAGE, "lwk.conf:2:", "found \"bind=\"" },
		{ "[node]\nNuma=bind=1-\n" IMAGE, "lwk.conf:2:", "found \"bind=1-\"" },
		{ "[node]\nBootTimeout=0\n" IMAGE,
		  "lwk.conf:2:", "BootTimeout: expected seconds, 1 to 3600, found \"0\"" },
		{ "[node]\nSwitchTimeout=3601\n" IMAGE, "lwk.conf:2:", "found \"3601\"" },
		{ "[node]\nSwitchTimeout=10s\n" IMAGE, "lwk.conf:2:", "found \"10s\"" },
		{ "[node]\nKeepWarm=3601\n" IMAGE, "lwk.conf:2:", "found \"3601\"" },
		{ "[node]\nDumpOnPanic=yes\n" IMAGE, "lwk.conf:2:", "found \"yes\"" },
		{ "[node]\nKeepWarm=-1\n" IMAGE, "lwk.conf:2:", "found \"-1\"" },
		{ "[image a]\nPath=lwk.elf\n",
		  "lwk.conf:2:", "Path: expected an absolute path, found \"lwk.elf\"" },
		{ IMAGE "Driver=ihc\n",
		  "lwk.conf:3:", "Driver: expected one of: lwkpart, ihk, found" },
		{ IMAGE "Default=maybe\n", "lwk.conf:3:", "expected yes or no, found \"maybe\"" },
		{ IMAGE "Args=\x01\n",
		  "lwk.conf:3:", "expected printable ASCII, found the byte 0x01" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ms_config *config;
		struct ms_error err;

		if (parse(bad[i].text, &config, &err) == 0)
			fail_msg("accepted: %s", bad[i].text);
		assert_ptr_equal(strstr(err.text, bad[i].at), err.text);
		assert_has(err.text, bad[i].says);
	}
}

static void long_lines_are_not_cut(void **state)
{
	char text[512] = IMAGE "Args=";
	struct ms_config *config;
	struct ms_error err;

	memset(text + strlen(text), 'x', 190);
	assert_int_equal(parse(text, &config, &err), 0);
	assert_int_equal(strlen(config->images[0].args), 190);
	ms_config_free(config);
	strcat(text, "xxxxxxxxxx\n");
	assert_int_equal(parse(text, &config, &err), -1);
	assert_has(err.text, "lwk.conf:3: expected a line of at most 198 characters");
}

static void bytes_of_0_are_refused(void **state)
{
	static const char in_value[] = IMAGE "[node]\nOsCpus=0\0b\n",
			  after_line[] = IMAGE "\0[node]\n", last[] = IMAGE "\0";
	static const struct {
		const char *text;
		size_t size;
		const char *line;
	} cases[] = { { in_value, sizeof(in_value) - 1, "lwk.conf:4: " },
		      { after_line, sizeof(after_line) - 1, "lwk.conf:3: " },
		      { last, sizeof(last) - 1, "lwk.conf:3: " } };
	struct ms_config *config;
	struct ms_error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(parse_bytes(cases[i].text, cases[i].size, &config, &err), -1);
		assert_has(err.text, cases[i].line);
		assert_has(err.text, "expected text, found a byte with the value 0; remove it");
	}
}

static void the_file_must_be_roots(void **state)
{
	const char *path = unit_file("lwk.conf", IMAGE);
	struct ms_config *config;
	struct ms_error err;

	if (geteuid() == 0) {
		assert_int_equal(ms_config_load(path, &config, &err), 0);
		ms_config_free(config);
		assert_int_equal(chmod(path, 0664), 0);
		assert_int_equal(ms_config_load(path, &config, &err), -1);
		assert_has(err.text, "only root can write, found mode 0664");
		assert_int_equal(chmod(path, 0646), 0);
		assert_int_equal(ms_config_load(path, &config, &err), -1);
		assert_has(err.text, "found mode 0646");
		assert_int_equal(chmod(path, 0644), 0);
		assert_int_equal(chown(path, 65534, 0), 0);
	}
	assert_int_equal(ms_config_load(path, &config, &err), -1);
	assert_has(err.text, "expected a file of root");
	assert_int_equal(ms_config_load(unit_dir, &config, &err), -1);
	assert_has(err.text, "expected a regular file");
	assert_int_equal(ms_config_load("/nowhere/lwk.conf", &config, &err), -1);
	assert_has(err.text, "/nowhere/lwk.conf: No such file");
	assert_has(err.text, "lwk.conf.example");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(everything),
		cmocka_unit_test(no_system_nodes_is_not_the_default),
		cmocka_unit_test(one_image_is_the_default_and_of_two_none),
		cmocka_unit_test(errors_tell_line_found_and_allowed),
		cmocka_unit_test(long_lines_are_not_cut),
		cmocka_unit_test(bytes_of_0_are_refused),
		cmocka_unit_test_setup_teardown(the_file_must_be_roots, unit_setup, unit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
