// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what 'lwkctl check' finds when releases do not go together: of Slurm and of the plugins, of
 * the kernel module, of Linux and of the library.
 */
#include "unit/node/checked.h"

#include <elf.h>
#include <errno.h>

#include "driver/driver.h"
#include "modeswitch/error.h"

/* ---- Slurm and the plugins ---- */

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
	/* Built for Slurm 20.11, it tells its own version. */
	write_plugin("lwk.so", 1);
	look_at_plugins("20.11.4");
	assert_int_equal(heard.n_problems, 1);
	assert_has(heard.problems, "job_container_lwk.so is built for Slurm 22.05.8");
	unit_file("lwk.so", "no ELF file");
	look_at_plugins("25.11.0");
	assert_int_equal(heard.n_problems, 0);
}

/* ---- the kernel module ---- */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_scontrol_without_json),	   TEST(a_plugin_for_another_release_of_slurm),
		TEST(a_module_for_another_kernel), TEST(a_module_of_another_release),
		TEST(a_module_of_another_abi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
