// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the checks of an LWK image: its ELF format, and who could have replaced its file. */
#include "unit/unit.h"

#include <elf.h>
#include <errno.h>

#include "config/image.h"
#include "modeswitch/config.h"

/* The smallest file that is a kernel: a header, one segment, and its bytes. */
struct kernel {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	char text[64];
};

static struct kernel good_kernel(void)
{
	struct kernel kernel = {
		.header = {
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct kernel, segment),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD,
			.p_offset = offsetof(struct kernel, text),
			.p_filesz = sizeof(kernel.text),
			.p_memsz = sizeof(kernel.text),
		},
	};

	memcpy(kernel.header.e_ident, ELFMAG, SELFMAG);
	kernel.header.e_ident[EI_CLASS] = ELFCLASS64;
	kernel.header.e_ident[EI_DATA] = ELFDATA2LSB;
	kernel.header.e_ident[EI_VERSION] = EV_CURRENT;
	return kernel;
}

static struct kernel kernel;
static struct ms_error err;

static int check(size_t size)
{
	/* The copy has exactly 'size' bytes, so that the sanitizer notices a read beyond them. */
	void *copy = calloc(1, size + !size);
	int ret;

	memcpy(copy, &kernel, size);
	*err.text = '\0';
	ret = image_check_elf(copy, size, "k.elf", &err);
	free(copy);
	return ret;
}

static void a_good_one(void **state)
{
	kernel = good_kernel();
	assert_int_equal(check(sizeof(kernel)), 0);
	kernel.header.e_type = ET_DYN;
	assert_int_equal(check(sizeof(kernel)), 0);
}

static void not_elf(void **state)
{
	kernel = good_kernel();
	assert_int_equal(check(0), -1);
	assert_has(err.text, "k.elf: expected an ELF file, found something else (it is empty)");
	assert_int_equal(check(3), -1);
	assert_has(err.text, "expected an ELF file");
	kernel.header.e_ident[0] = '#';
	assert_int_equal(check(sizeof(kernel)), -1);
	assert_has(err.text, "expected an ELF file");
}

static void truncated_anywhere(void **state)
{
	kernel = good_kernel();
	for (size_t size = SELFMAG; size < sizeof(kernel); size++) {
		if (check(size) == 0)
			fail_msg("%zu bytes were enough", size);
	}
	check(20);
	assert_has(err.text, "found it truncated (20 bytes, less than a header)");
	check(sizeof(kernel) - 1);
	assert_has(err.text, "segment 0 lies beyond");
	kernel.segment.p_offset = UINT64_MAX - 10;
	assert_int_equal(check(sizeof(kernel)), -1);
	assert_has(err.text, "truncated");
	kernel = good_kernel();
	kernel.segment.p_filesz = UINT64_MAX - 10;
	assert_int_equal(check(sizeof(kernel)), -1);
	kernel = good_kernel();
	kernel.header.e_phoff = UINT64_MAX - 10;
	assert_int_equal(check(sizeof(kernel)), -1);
	/* All segments are there, but the table of sections is missing. */
	kernel = good_kernel();
	kernel.header.e_shoff = sizeof(kernel) - 64;
	kernel.header.e_shnum = 1;
	kernel.header.e_shentsize = 64;
	assert_int_equal(check(sizeof(kernel)), 0);
	kernel.header.e_shnum = 2;
	assert_int_equal(check(sizeof(kernel)), -1);
	assert_has(err.text, "its sections lie beyond");
	kernel.header.e_shoff = UINT64_MAX;
	kernel.header.e_shnum = 0;
	assert_int_equal(check(sizeof(kernel)), -1);
}

static void for_another_machine(void **state)
{
	kernel = good_kernel();
	kernel.header.e_machine = EM_AARCH64;
	assert_int_equal(check(sizeof(kernel)), -1);
	assert_has(err.text,
		   "for this machine (x86-64), found one for another (ELF machine 183, 64");
	kernel = good_kernel();
	kernel.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(check(sizeof(kernel)), -1);
	kernel = good_kernel();
	kernel.header.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(check(sizeof(kernel)), -1);
}

static void no_program(void **state)
{
	kernel = good_kernel();
	kernel.header.e_type = ET_REL;
	assert_int_equal(check(sizeof(kernel)), -1);
	assert_has(err.text, "expected a linked kernel image");
	kernel = good_kernel();
	kernel.segment.p_type = PT_NOTE;
	assert_int_equal(check(sizeof(kernel)), -1);
	assert_has(err.text, "no program");
}

static int read_image(const char *path)
{
	struct ms_image image = { .name = "k" };
	void *data = NULL;
	size_t size;
	int ret;

	snprintf(image.path, sizeof(image.path), "%s", path);
	ret = image_read(&image, &data, &size, &err);
	if (ret == 0) {
		assert_int_equal(size, sizeof(kernel));
		assert_memory_equal(data, &kernel, size);
		free(data);
	} else {
		assert_null(data);
		assert_has(err.text, "the LWK image k cannot be used: ");
	}
	return ret;
}

static void only_roots_file_counts(void **state)
{
	char path[512], link[128];
	FILE *file;

	strcpy(path, unit_file("images/k.elf", "%s", ""));
	if (geteuid() != 0) {
		assert_int_equal(read_image(path), -1);
		assert_has(err.text, "expected a file of root");
		return;
	}
	kernel = good_kernel();
	file = fopen(path, "w");
	assert_int_equal(fwrite(&kernel, sizeof(kernel), 1, file), 1);
	fclose(file);
	assert_int_equal(read_image(path), 0);
	snprintf(link, sizeof(link), "%s/link", unit_dir);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(read_image(link), 0);

	assert_int_equal(chmod(path, 0646), 0);
	assert_int_equal(read_image(path), -1);
	assert_has(err.text, "found mode 0646; use chmod go-w");
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(chown(path, 65534, 0), 0);
	assert_int_equal(read_image(path), -1);
	assert_has(err.text, "found one of user 65534");
	assert_int_equal(chown(path, 0, 0), 0);

	/* For the file's own directory a sticky bit does not help. */
	*strrchr(path, '/') = '\0';
	assert_int_equal(chmod(path, 01777), 0);
	assert_int_equal(read_image(link), -1);
	assert_has(err.text, "/images with mode 1777 of user 0");
	assert_int_equal(read_image(path), -1);
	assert_has(err.text, "expected a regular file");
	assert_int_equal(read_image("/nowhere/k.elf"), -1);
	assert_has(err.text, "/nowhere/k.elf: No such file or directory");
}

/* Expects the file to be refused because of something on the way to it. */
static void refuse_way(const char *path, const char *because)
{
	assert_int_equal(read_image(path), -1);
	assert_has(err.text, because);
	assert_has(err.text, "; use ");
}

static void only_roots_directories_count(void **state)
{
	char path[512], above[512], by_link[512];
	FILE *file;

	if (geteuid() != 0)
		skip();
	strcpy(path, unit_file("site/images/2/k.elf", "%s", ""));
	kernel = good_kernel();
	file = fopen(path, "w");
	assert_int_equal(fwrite(&kernel, sizeof(kernel), 1, file), 1);
	fclose(file);
	snprintf(above, sizeof(above), "%s/site", unit_dir);
	assert_int_equal(read_image(path), 0);
	assert_int_equal(chmod(above, 0775), 0);
	refuse_way(path, "/site with mode 0775 of user 0");
	assert_int_equal(chmod(above, 0757), 0);
	refuse_way(path, "/site with mode 0757 of user 0");
	assert_int_equal(chmod(above, 01777), 0);
	assert_int_equal(read_image(path), 0);
	assert_int_equal(chmod(above, 0755), 0);
	assert_int_equal(chown(above, 65534, 0), 0);
	refuse_way(path, "/site with mode 0755 of user 65534");

	/* A way by links: dir -> site/images, last -> ../images/2, both in root's directory. */
	assert_int_equal(chown(above, 0, 0), 0);
	snprintf(by_link, sizeof(by_link), "%s/dir", unit_dir);
	assert_int_equal(symlink("./site//images", by_link), 0);
	snprintf(by_link, sizeof(by_link), "%s/site/images/last", unit_dir);
	assert_int_equal(symlink("../images/2", by_link), 0);
	snprintf(path, sizeof(path), "%s/dir/../images/last/k.elf", unit_dir);
	assert_int_equal(read_image(path), 0);
	assert_int_equal(chmod(above, 0777), 0);
	refuse_way(path, "/site with mode 0777");
	assert_int_equal(chmod(above, 01777), 0);
	assert_int_equal(lchown(by_link, 65534, 0), 0);
	assert_int_equal(read_image(path), -1);
	assert_has(err.text, "/last: expected a link of root, found one of user 65534");
	assert_int_equal(unlink(by_link), 0);
	assert_int_equal(symlink("last", by_link), 0);
	assert_int_equal(read_image(path), -1);
	assert_has(err.text, strerror(ELOOP));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_one),
		cmocka_unit_test(not_elf),
		cmocka_unit_test(truncated_anywhere),
		cmocka_unit_test(for_another_machine),
		cmocka_unit_test(no_program),
		cmocka_unit_test_setup_teardown(only_roots_file_counts, unit_setup, unit_teardown),
		cmocka_unit_test_setup_teardown(only_roots_directories_count, unit_setup,
						unit_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
