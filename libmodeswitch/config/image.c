// SPDX-License-Identifier: GPL-2.0-or-later
#include "config/image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/trust.h"

#define LARGEST_IMAGE (64UL << 20)

static int check_segments(Elf *elf, const GElf_Ehdr *header, size_t size, const char *path,
			  struct ms_error *err)
{
	size_t n, sections = (size_t)header->e_shnum * header->e_shentsize;
	bool loads = false;

	/* The table of sections is last in the file: it shows that the file is not cut off. */
	if (header->e_shoff > size || sections > size - header->e_shoff)
		return ms_fail(
			err,
			"%s: expected a whole file, found it truncated (%zu bytes; its sections "
			"lie beyond); install it again",
			path, size);
	if (elf_getphdrnum(elf, &n) < 0)
		return ms_fail(err, "%s: damaged ELF file: %s", path, elf_errmsg(-1));
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, i, &segment) || segment.p_offset > size ||
		    segment.p_filesz > size - segment.p_offset)
			return ms_fail(err,
				       "%s: expected a whole file, found it truncated (%zu bytes; "
				       "segment %zu lies beyond); install it again",
				       path, size, i);
		loads |= segment.p_type == PT_LOAD && segment.p_filesz;
	}
	if (!loads)
		return ms_fail(err,
			       "%s: expected a kernel image, found an ELF file with no program",
			       path);
	return 0;
}

int image_check_elf(const void *data, size_t size, const char *path, struct ms_error *err)
{
	GElf_Ehdr header;
	Elf *elf;
	int ret;

	if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG) != 0)
		return ms_fail(err, "%s: expected an ELF file, found something else%s", path,
			       size ? "" : " (it is empty)");
	if (size < sizeof(Elf64_Ehdr))
		return ms_fail(
			err,
			"%s: expected a whole file, found it truncated (%zu bytes, less than a "
			"header); install it again",
			path, size);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)data, size);
	if (!elf || !gelf_getehdr(elf, &header))
		ret = ms_fail(err, "%s: damaged ELF file: %s", path, elf_errmsg(-1));
	else if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		 header.e_ident[EI_DATA] != ELFDATA2LSB)
		ret = ms_fail(
			err,
			"%s: expected a kernel for this machine (x86-64), found one for another "
			"(ELF machine %u, %d bits)",
			path, header.e_machine, header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64);
	else if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		ret = ms_fail(err, "%s: expected a linked kernel image, found ELF type %u", path,
			      header.e_type);
	else
		ret = check_segments(elf, &header, size, path, err);
	elf_end(elf);
	return ret;
}

static int read_file(int fd, const char *path, void **data, size_t *size, struct ms_error *err)
{
	struct stat st;
	size_t done = 0;
	ssize_t got = 1;
	char *bytes;

	if (fstat(fd, &st) < 0)
		return ms_fail(err, "%s: %m", path);
	if (st.st_size > (off_t)LARGEST_IMAGE)
		return ms_fail(err, "%s: expected at most %lu MB, found %jd MB", path,
			       LARGEST_IMAGE >> 20, (intmax_t)st.st_size >> 20);
	bytes = malloc(st.st_size + 1);
	if (!bytes)
		return ms_fail(err, "out of memory");
	while (done < (size_t)st.st_size && got > 0) {
		got = read(fd, bytes + done, st.st_size - done);
		done += got > 0 ? got : 0;
	}
	if (got < 0) {
		free(bytes);
		return ms_fail(err, "%s: %m", path);
	}
	*data = bytes;
	*size = done;
	return 0;
}

int image_read(const struct ms_image *image, void **data, size_t *size, struct ms_error *err)
{
	int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;
	struct ms_error why;

	if (fd < 0)
		return ms_fail(
			err,
			"the LWK image %s cannot be used: %s: %m; the administrator's remedy: "
			"install it or correct Path= in %s",
			image->name, image->path, MS_CONFIG_PATH);
	ret = path_check_trusted(image->path, &why) < 0 ||
			      file_check_trusted(fd, image->path, &why) < 0 ||
			      read_file(fd, image->path, data, size, &why) < 0
		      ? -1
		      : 0;
	close(fd);
	if (ret == 0 && image_check_elf(*data, *size, image->path, &why) < 0) {
		free(*data);
		*data = NULL;
		ret = -1;
	}
	return ret < 0 ? ms_fail(err, "the LWK image %s cannot be used: %s", image->name, why.text)
		       : 0;
}
