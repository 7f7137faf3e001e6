// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads a kernel into an instance of IHK's, and says which CPUs of Linux answer it. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/ihk/ihk.h"

/* Tells IHK which CPU of Linux answers which of the instance's CPUs. */
static int set_map(const struct owned *owned, unsigned instance)
{
	struct ihk_ikc_cpu_map map[IHK_MAX_NUM_CPUS];
	int n = 0;

	for (size_t i = 0; i < owned->n_cpus && n < IHK_MAX_NUM_CPUS; i++) {
		if (owned->cpus[i].instance == (int)instance)
			map[n++] = (struct ihk_ikc_cpu_map){ owned->cpus[i].cpu,
							     owned->cpus[i].doorbell };
	}
	return ihk->os_set_ikc_map(instance, map, n);
}

/* The library reads a file; this one has just the bytes that were checked. */
static int load_bytes(unsigned instance, const void *image, size_t size)
{
	int fd = memfd_create("lwk", MFD_CLOEXEC), error = 0;
	char path[64];
	ssize_t done;

	if (fd < 0)
		return -errno;
	for (size_t at = 0; !error && at < size; at += done) {
		done = write(fd, (const char *)image + at, size - at);
		if (done <= 0)
			error = done < 0 ? -errno : -EIO;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!error)
		error = ihk->os_load(instance, path);
	close(fd);
	return error == -EINVAL ? -ENOEXEC : error > 0 ? -EPROTO : error;
}

/*
 * IHK loads any ELF file, and an address outside of its kernels' range is anywhere in Linux's memory. See
 * IHK_SMP_MAP_KERNEL_START in IHK's smp-defines-driver.h: the last 8 MB of Linux's range for modules.
 */
static bool is_kernel(const void *image, size_t size)
{
	const uint64_t start = 0xfffffffffe800000, end = start + (8 << 20);
	const Elf64_Ehdr *header = image;
	size_t loaded = 0;
	Elf64_Phdr part;

	if (size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 ||
	    header->e_type != ET_EXEC || header->e_phentsize != sizeof(part) ||
	    header->e_phoff > size || header->e_phnum > (size - header->e_phoff) / sizeof(part) ||
	    header->e_entry < start || header->e_entry >= end)
		return false;
	for (size_t i = 0; i < header->e_phnum; i++) {
		memcpy(&part, (const char *)image + header->e_phoff + i * sizeof(part),
		       sizeof(part));
		if (part.p_type != PT_LOAD)
			continue;
		loaded++;
		if (part.p_vaddr < start || part.p_vaddr >= end ||
		    part.p_memsz > end - part.p_vaddr || part.p_filesz > part.p_memsz ||
		    part.p_offset > size || part.p_filesz > size - part.p_offset)
			return false;
	}
	return loaded > 0;
}

int ihk_load(int dev, unsigned instance, const void *image, size_t size)
{
	struct owned_instance *found;
	struct owned owned;
	int error = owned_load(&owned);

	if (!error)
		error = ihk_find_instance(&owned, instance, &found);
	if (!error && ihk_is_itself() && !is_kernel(image, size))
		error = -ENOEXEC;
	if (!error)
		error = set_map(&owned, instance);
	if (!error)
		error = load_bytes(instance, image, size);
	owned_release(&owned);
	return error > 0 ? -EPROTO : error;
}
