// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An ELF core file as gdb reads it: the memory at the addresses that the LWK has it, and the
 * registers of those CPUs whose are known, each as a thread with the CPU's number.
 */
#include "watch/panic_dump.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/signals.h"
#include "modeswitch/job.h"
#include "modeswitch/watch.h"
#include "store/record.h"
#include "store/state.h"

#define CHUNK (256 << 10)
#define ALIGN4(size) (((size) + 3) & ~(size_t)3)
#define MEMORY_ALIGN 4096UL
/* For the removal of what a process that had to be killed has left. */
#define DISCARD_MS 1000
/* A switch of another job may take longer; then the end of this job sees to the dump. */
#define LOCK_MS 10000

struct source {
	const struct driver *driver;
	int dev;
	unsigned instance;
	uint32_t job_id;
};

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

static int write_notes(const struct source *source, int fd, const struct dump_cpu *cpus, size_t n)
{
	struct elf_prpsinfo about = { .pr_fname = "lwk.elf" };
	int error;

	snprintf(about.pr_psargs, sizeof(about.pr_psargs), "lwk.elf, job %u", source->job_id);
	error = write_note(fd, NT_PRPSINFO, &about, sizeof(about));
	for (size_t i = 0; i < n && !error; i++) {
		/* CPU 0 never is an LWK's, and a debugger wants no thread 0. */
		struct elf_prstatus status = { .pr_pid = cpus[i].cpu };

		_Static_assert(sizeof(status.pr_reg) == sizeof(cpus[i].registers), "the same");
		memcpy(&status.pr_reg, &cpus[i].registers, sizeof(status.pr_reg));
		error = write_note(fd, NT_PRSTATUS, &status, sizeof(status));
	}
	return error;
}

/* The segments lie in the direct map's part of the file; that is written once. */
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

static int write_headers(const struct source *source, int fd, const struct dump_layout *layout,
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

/* 0 or a negative errno. It may be in a child_call_alone(): no allocation. */
static int write_dump(const struct source *source, int fd)
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

/* Makes a new file and writes the dump into it; or there is none. */
static int write_file(const struct source *source, int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int error;

	if (fd < 0)
		return -errno;
	error = write_dump(source, fd);
	/* Some file systems say only now that they are full. */
	if (close(fd) < 0 && !error)
		error = -errno;
	if (error)
		unlinkat(dir, name, 0);
	return error;
}

static const char *reason(int error)
{
	switch (error) {
	case -ENOSPC:
	case -EDQUOT:
		return "there is no room for it; make room there";
	case -EPERM:
		return "wanted a directory that only root can write; found another; use chown root "
		       "and chmod go-w";
	case -EEXIST:
		return "wanted a new file; found that there is one; remove it, or choose another "
		       "name";
	case -ENODATA:
	case -ENOENT:
		return "found no such directory, or the LWK has just ended";
	case -EINTR:
		return "a signal came";
	case -ETIMEDOUT:
		return "it was not written in time (half of SwitchTimeout= in lwk.conf)";
	default:
		return strerror(-error);
	}
}

/* ---- kept at the end of an instance ---- */

struct keeping {
	struct source source;
	const char *directory;
};

#define NAME_SIZE 40
static void set_names(uint32_t job_id, char name[NAME_SIZE], char partial[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "lwk-%u.core", job_id);
	snprintf(partial, NAME_SIZE, ".lwk-%u.core.part", job_id);
}

/* Only root can put anything there: a name in it is no trap. A descriptor or a negative errno. */
static int open_directory(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (dir < 0)
		return -errno;
	if (fstat(dir, &st) == 0 && st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return dir;
	close(dir);
	return -EPERM;
}

/*
 * A file system that does not answer can keep this process for ever. When slurmstepd began it,
 * Slurm would wait for it as one of the job's, and drain the node.
 */
static void leave_job(void)
{
	static const char *const files[] = {
		"/sys/fs/cgroup/cgroup.procs", /* version 2; all others are of version 1 */
		"/sys/fs/cgroup/cpuacct/cgroup.procs", "/sys/fs/cgroup/cpuset/cgroup.procs",
		"/sys/fs/cgroup/devices/cgroup.procs", "/sys/fs/cgroup/freezer/cgroup.procs",
		"/sys/fs/cgroup/memory/cgroup.procs",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int fd = open(files[i], O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		write_all(fd, "0", 1); /* the caller */
		close(fd);
	}
}

static int keep(void *context)
{
	const struct keeping *keeping = context;
	char name[NAME_SIZE], partial[NAME_SIZE];
	int dir, error;

	leave_job();
	dir = open_directory(keeping->directory);
	if (dir < 0)
		return dir;
	set_names(keeping->source.job_id, name, partial);
	unlinkat(dir, partial, 0);
	error = write_file(&keeping->source, dir, partial);
	if (!error && renameat(dir, partial, dir, name) < 0) {
		error = -errno;
		unlinkat(dir, partial, 0);
	}
	return error;
}

static int discard(void *context)
{
	const struct keeping *keeping = context;
	char name[NAME_SIZE], partial[NAME_SIZE];
	int dir;

	leave_job();
	dir = open_directory(keeping->directory);
	if (dir < 0)
		return dir;
	set_names(keeping->source.job_id, name, partial);
	return unlinkat(dir, partial, 0) < 0 ? -errno : 0;
}

static int keep_dump(const struct driver *driver, int dev, unsigned instance, uint32_t job_id,
		     const char *directory, unsigned limit_ms, struct ms_error *err)
{
	struct keeping keeping = { { driver, dev, instance, job_id }, directory };
	int error = -EOPNOTSUPP;

	if (driver->dumping)
		error = child_call_alone(keep, &keeping, dev, clock_ms() + limit_ms);
	/* It was killed, so it could not clear up. */
	if (error == -ETIMEDOUT || error == -EINTR || error == -ECHILD)
		child_call_alone(discard, &keeping, -1, clock_ms() + DISCARD_MS);
	if (!error)
		return 0;
	return ms_fail(err,
		       "a dump of job %u's LWK was to be kept in %s (DumpOnPanic= in lwk.conf), "
		       "but %s",
		       job_id, directory, reason(error));
}

/* What has become of it already is in the job's record. */
static bool is_tried(uint32_t job_id)
{
	struct ms_error ignored;
	struct ms_job job;
	bool tried;

	if (ms_job_get(job_id, &job, &ignored) != 1)
		return false;
	tried = job.state == MS_JOB_ACTIVE && *job.reason;
	ms_job_release(&job);
	return tried;
}

bool dump_if_failed(const struct driver *driver, int dev, unsigned instance, uint32_t job_id,
		    struct json_object *entry, struct ms_error *told)
{
	const char *directory = entry ? journal_text(entry, "dump") : "";
	struct instance_info info;

	if (!*directory || driver->info(dev, instance, &info) < 0 || !info.failed ||
	    is_tried(job_id))
		return false;
	if (keep_dump(driver, dev, instance, job_id, directory, journal_number(entry, "dump_ms"),
		      told) < 0) {
		syslog(LOG_DAEMON | LOG_ERR, "slurm-lwk: %s", told->text);
		return true;
	}
	ms_fail(told, "the LWK of job %u is in %s: %s; its dump is %s/lwk-%u.core", job_id,
		info.state, info.message, directory, job_id);
	syslog(LOG_DAEMON | LOG_NOTICE, "slurm-lwk: %s", told->text);
	return true;
}

/* The journal's entry of the step that makes the instance, or NULL. */
static struct json_object *find_entry(const struct journal *journal)
{
	for (size_t i = 0; i < json_object_array_length(journal->entries); i++) {
		struct json_object *entry = json_object_array_get_idx(journal->entries, i);

		if (strcmp(journal_text(entry, "step"), "instance") == 0)
			return entry;
	}
	return NULL;
}

static bool dump_by_journal(const struct ms_job *job, struct ms_error *told)
{
	const struct driver *driver = driver_find(job->driver);
	struct journal *journal;
	bool done = false;
	int dev, instance;

	if (!driver || journal_open(job->job_id, &journal, told) != 1)
		return false;
	dev = driver->open(told);
	if (dev >= 0) {
		instance = driver_instance_of_job(driver, dev, job->job_id);
		done = instance >= 0 && dump_if_failed(driver, dev, instance, job->job_id,
						       find_entry(journal), told);
		driver->close(dev);
	}
	journal_close(journal);
	return done;
}

static int keep_once(uint32_t job_id, struct ms_error *told)
{
	struct ms_error ignored;
	struct ms_job job;
	int ret = 0;

	if (ms_job_get(job_id, &job, &ignored) != 1)
		return 0;
	if (job.state == MS_JOB_ACTIVE && *job.reason) {
		ms_fail(told, "%s", job.reason);
		ret = 1;
	} else if (job.state == MS_JOB_ACTIVE && dump_by_journal(&job, told)) {
		snprintf(job.reason, sizeof(job.reason), "%s", told->text);
		record_publish(&job, &ignored);
		ret = 1;
	}
	ms_job_release(&job);
	return ret;
}

int ms_dump_if_failed(uint32_t job_id, struct ms_error *told)
{
	struct ms_instance_info info = { .state = MS_INSTANCE_RUNNING };
	struct ms_error ignored;
	struct ms_watch *watch;
	int lock, ret;

	if (ms_watch_open(job_id, &watch, &ignored) < 0)
		return 0;
	ms_watch_info(watch, &info, &ignored);
	ms_watch_close(watch);
	if (info.state != MS_INSTANCE_PANIC && info.state != MS_INSTANCE_HUNG)
		return 0;
	lock = state_lock(LOCK_MS, &ignored);
	if (lock < 0)
		return 0;
	ret = keep_once(job_id, told);
	close(lock);
	return ret;
}

/* ---- on demand ---- */

static int dump_job(const struct ms_job *job, const char *path, struct ms_error *err)
{
	const struct driver *driver = driver_find(job->driver);
	struct source source = { driver, -1, job->instance, job->job_id };
	int error;

	if (job->state != MS_JOB_ACTIVE)
		return ms_fail(err, "job %u has no LWK instance: it is %s%s%s", job->job_id,
			       ms_job_state_word(job->state), *job->reason ? ": " : "",
			       job->reason);
	if (!driver || !driver->dumping)
		return ms_fail(err, "an LWK of the driver \"%s\" cannot be dumped", job->driver);
	source.dev = driver->open(err);
	if (source.dev < 0)
		return -1;
	error = write_file(&source, AT_FDCWD, path);
	driver->close(source.dev);
	return error ? ms_fail(err, "job %u's LWK cannot be dumped to %s: %s", job->job_id, path,
			       reason(error))
		     : 0;
}

int ms_dump(uint32_t job_id, const char *path, struct ms_error *err)
{
	struct ms_job job;
	int ret;

	if (record_find(job_id, &job, err) < 0)
		return -1;
	signals_hold();
	ret = dump_job(&job, path, err);
	signals_release();
	ms_job_release(&job);
	return ret;
}
