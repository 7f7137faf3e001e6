// SPDX-License-Identifier: GPL-2.0-or-later
#include "watch/core_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/signals.h"

#define CHUNK (256 << 10)
#define ALIGN4(size) (((size) + 3) & ~(size_t)3)
#define MEMORY_ALIGN 4096UL
/* Added to a dump's name: the directory in which a driver makes it. */
#define PRIVATE ".d"

static int write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		at += written;
		size -= written;
	}
	return 0;
}

static size_t note_bytes(size_t size)
{
	return sizeof(Elf64_Nhdr) + ALIGN4(sizeof("CORE")) + ALIGN4(size);
}

static int write_note(int fd, unsigned type, const void *data, size_t size)
{
	struct {
		Elf64_Nhdr header;
		char name[ALIGN4(sizeof("CORE"))];
	} start = { { sizeof("CORE"), size, type }, "CORE" };
	int error = write_all(fd, &start, sizeof(start));

	_Static_assert(sizeof(struct elf_prstatus) % 4 == 0, "needs no filling");
	_Static_assert(sizeof(struct elf_prpsinfo) % 4 == 0, "needs no filling");
	return error ? error : write_all(fd, data, size);
}

static int write_notes(const struct core_source *source, int fd, const struct dump_cpu *cpus,
		       size_t n)
{
	struct elf_prpsinfo about = { .pr_fname = "lwk.elf" };
	int error;

	snprintf(about.pr_psargs, sizeof(about.pr_psargs), "lwk.elf, job %u", source->job_id);
	error = write_note(fd, NT_PRPSINFO, &about, sizeof(about));
	for (size_t i = 0; i < n && !error; i++) {
		/* A thread must not have the number 0; CPU 0 never belongs to an LWK. */
		struct elf_prstatus status = { .pr_pid = cpus[i].cpu };

		_Static_assert(sizeof(status.pr_reg) == sizeof(cpus[i].registers), "the same");
		memcpy(&status.pr_reg, &cpus[i].registers, sizeof(status.pr_reg));
		error = write_note(fd, NT_PRSTATUS, &status, sizeof(status));
	}
	return error;
}

/* The direct map is written once; the other segments point into its part of the file. */
static int write_program_headers(int fd, const struct dump_layout *layout, uint64_t notes,
				 uint64_t notes_bytes, uint64_t memory)
{
	Elf64_Phdr header = { .p_type = PT_NOTE, .p_offset = notes, .p_filesz = notes_bytes };
	int error = write_all(fd, &header, sizeof(header));

	header = (Elf64_Phdr){ .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_W | PF_X,
			       .p_offset = memory,
			       .p_vaddr = layout->address,
			       .p_paddr = layout->start,
			       .p_filesz = layout->bytes,
			       .p_memsz = layout->bytes,
			       .p_align = MEMORY_ALIGN };
	if (!error)
		error = write_all(fd, &header, sizeof(header));
	for (size_t i = 0; i < layout->n_segments && !error; i++) {
		header.p_vaddr = layout->segments[i].address;
		header.p_paddr = layout->segments[i].start;
		header.p_offset = memory + (layout->segments[i].start - layout->start);
		header.p_filesz = header.p_memsz = layout->segments[i].bytes;
		error = write_all(fd, &header, sizeof(header));
	}
	return error;
}

static int write_headers(const struct core_source *source, int fd, const struct dump_layout *layout,
			 uint64_t *memory)
{
	static struct dump_cpu cpus[DUMP_MAX_CPUS];
	ssize_t n = source->driver->dumping->registers(source->dev, source->instance,
						       source->job_id, cpus);
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT, ELFOSABI_NONE },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2 + layout->n_segments,
	};
	uint64_t notes = sizeof(header) + header.e_phnum * sizeof(Elf64_Phdr), notes_bytes;
	int error;

	if (n < 0)
		return n;
	notes_bytes = note_bytes(sizeof(struct elf_prpsinfo)) +
		      n * note_bytes(sizeof(struct elf_prstatus));
	*memory = (notes + notes_bytes + MEMORY_ALIGN - 1) / MEMORY_ALIGN * MEMORY_ALIGN;
	error = write_all(fd, &header, sizeof(header));
	if (!error)
		error = write_program_headers(fd, layout, notes, notes_bytes, *memory);
	return error ? error : write_notes(source, fd, cpus, n);
}

static int write_dump(const struct core_source *source, int fd)
{
	static char chunk[CHUNK];
	struct dump_layout layout;
	uint64_t memory = 0, done = 0;
	int error = source->driver->dumping->layout(source->dev, source->instance, source->job_id,
						    &layout);

	if (!error)
		error = write_headers(source, fd, &layout, &memory);
	if (!error && lseek(fd, memory, SEEK_SET) < 0)
		error = -errno;
	while (!error && done < layout.bytes) {
		size_t size = layout.bytes - done < CHUNK ? layout.bytes - done : CHUNK;
		ssize_t got = source->driver->dumping->read(source->dev, source->instance,
							    source->job_id, done, chunk, size);

		if (signal_is_pending())
			error = -EINTR;
		else if (got <= 0)
			error = got < 0 ? (int)got : -ENODATA;
		else
			error = write_all(fd, chunk, got);
		done += error ? 0 : got;
	}
	return error;
}

/* Opens the new directory, unless somebody has put another in its place. */
static int open_private(int dir, const char *private)
{
	int inside = openat(dir, private, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (inside < 0)
		return -errno;
	if (fstat(inside, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077))
		return inside;
	close(inside);
	return -EPERM;
}

/*
 * The driver makes the file in a directory that only root can enter, where no name is a trap. The file gets its
 * name only if nothing has that yet.
 */
static int make_by_driver(const struct core_source *source, int dir, const char *name)
{
	char private[PATH_MAX], path[64];
	struct stat there;
	int error, inside;

	if (fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	if (snprintf(private, sizeof(private), "%s" PRIVATE, name) >= (int)sizeof(private))
		return -ENAMETOOLONG;
	if (mkdirat(dir, private, 0700) < 0)
		return -errno;
	inside = open_private(dir, private);
	if (inside < 0)
		return inside;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/core", inside);
	error = source->driver->dumping->write_file(source->dev, source->instance, source->job_id,
						    path);
	if (!error &&
	    (fchmodat(inside, "core", 0600, 0) < 0 || linkat(inside, "core", dir, name, 0) < 0))
		error = -errno;
	unlinkat(inside, "core", 0);
	close(inside);
	unlinkat(dir, private, AT_REMOVEDIR);
	return error;
}

void core_file_discard(int dir, const char *name)
{
	char private[PATH_MAX];
	int inside;

	unlinkat(dir, name, 0);
	if (snprintf(private, sizeof(private), "%s" PRIVATE, name) >= (int)sizeof(private))
		return;
	inside = open_private(dir, private);
	if (inside < 0)
		return;
	unlinkat(inside, "core", 0);
	close(inside);
	unlinkat(dir, private, AT_REMOVEDIR);
}

int core_file_write(const struct core_source *source, int dir, const char *name)
{
	int error, fd;

	if (source->driver->dumping->write_file)
		return make_by_driver(source, dir, name);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	error = write_dump(source, fd);
	/* Some file systems report only at close() that they are full. */
	if (close(fd) < 0 && !error)
		error = -errno;
	if (error)
		unlinkat(dir, name, 0);
	return error;
}

const char *core_file_reason(int error)
{
	switch (error) {
	case -ENOSPC:
	case -EDQUOT:
		return "there is no room for it; make room there";
	case -EPERM:
		return "expected a directory that only root can write, found another; use chown root "
		       "and chmod go-w";
	case -EEXIST:
		return "expected a new file, found one that exists; remove it, or choose another "
		       "name";
	case -ENODATA:
	case -ENOENT:
		return "the directory does not exist, or the LWK has just ended";
	case -EINTR:
		return "a signal interrupted it";
	case -ETIMEDOUT:
		return "it was not written in time (half of SwitchTimeout= in lwk.conf)";
	default:
		return strerror(-error);
	}
}
