/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/core/core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lwkexec/instance/session.h"
#include "lwkexec/core/core_path.h"
#include "lwkexec/program/mapped_files.h"
#include "lwkexec/program/stack.h"
#include "lwkexec/view/maps.h"

#define PAGE 4096UL
/* e_phnum has 16 bits. */
#define MAX_SEGMENTS (PN_XNUM - 2)
#define REGISTER_WORDS (sizeof(struct lwk_core_registers) / sizeof(uint64_t))
/* The last packet of each has zeros behind the end. */
#define FPU_AT ((REGISTER_WORDS + LWK_CORE_WORDS - 1) / LWK_CORE_WORDS * LWK_CORE_WORDS)
#define MAX_WORDS (FPU_AT + LWK_CORE_FPU_WORDS + LWK_CORE_WORDS)

struct core_thread {
	uint64_t tid, words[MAX_WORDS];
	size_t n_words;
};

struct run {
	uint64_t start, end;
};

static bool wanted;
static struct core_thread *threads;
static size_t n_threads;
static struct run *runs; /* of pages that exist */
static size_t n_runs;

/* Signals whose default is a core file (signal(7)). */
static bool makes_core(int signal)
{
	static const int signals[] = { SIGQUIT, SIGILL,	 SIGTRAP, SIGABRT, SIGBUS,
				       SIGFPE,	SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i] == signal)
			return true;
	return false;
}

int64_t core_wanted(int signal)
{
	struct rlimit limit;

	wanted = makes_core(signal) && getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur > 0 &&
		 prctl(PR_GET_DUMPABLE) == 1;
	return wanted;
}

int64_t core_add_words(const uint64_t args[6])
{
	struct core_thread *thread = n_threads ? &threads[n_threads - 1] : NULL;

	if (!thread || thread->tid != args[0]) {
		struct core_thread *more = realloc(threads, (n_threads + 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		threads = more;
		thread = &threads[n_threads++];
		*thread = (struct core_thread){ .tid = args[0] };
	}
	if (thread->n_words + LWK_CORE_WORDS > MAX_WORDS)
		return -ENOMEM;
	memcpy(thread->words + thread->n_words, args + 1, LWK_CORE_WORDS * sizeof(uint64_t));
	thread->n_words += LWK_CORE_WORDS;
	return 0;
}

int64_t core_add_pages(uint64_t start, uint64_t end)
{
	struct run *more = n_runs % 1024 ? runs : realloc(runs, (n_runs + 1024) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	runs = more;
	runs[n_runs++] = (struct run){ start, end };
	return 0;
}

/* ---- notes ---- */

static void put_note(FILE *out, uint32_t type, const void *content, size_t size)
{
	const Elf64_Nhdr header = { sizeof("CORE"), size, type };
	static const char zeros[8];

	fwrite(&header, sizeof(header), 1, out);
	fwrite("CORE\0\0\0", 8, 1, out);
	fwrite(content, size, 1, out);
	fwrite(zeros, -size % 4, 1, out);
}

static void put_status(FILE *out, const struct core_thread *thread, int signal)
{
	const struct lwk_core_registers *from = (const void *)thread->words;
	struct elf_prstatus status = { .pr_pid = thread->tid,
				       .pr_ppid = getppid(),
				       .pr_pgrp = getpgrp(),
				       .pr_sid = getsid(0),
				       .pr_cursig = signal,
				       .pr_info.si_signo = signal,
				       .pr_fpvalid = thread->n_words > FPU_AT };
	struct user_regs_struct registers;

	_Static_assert(sizeof(registers) == sizeof(status.pr_reg), "the same registers");
	/* The frame has the vector and the error code between RDI and RIP. */
	memset(&registers, 0, sizeof(registers));
	memcpy(&registers, from->frame, 15 * sizeof(uint64_t));
	memcpy(&registers.rip, from->frame + 17, 5 * sizeof(uint64_t));
	registers.orig_rax = -1;
	registers.fs_base = from->fs_base;
	registers.gs_base = from->gs_base;
	memcpy(&status.pr_reg, &registers, sizeof(registers));
	put_note(out, NT_PRSTATUS, &status, sizeof(status));
}

static void put_process(FILE *out, const struct program *program)
{
	const char *slash = strrchr(program->exec_path, '/');
	struct elf_prpsinfo info = { .pr_sname = 'R',
				     .pr_uid = getuid(),
				     .pr_gid = getgid(),
				     .pr_pid = getpid(),
				     .pr_ppid = getppid(),
				     .pr_pgrp = getpgrp(),
				     .pr_sid = getsid(0) };
	size_t n = 0;

	snprintf(info.pr_fname, sizeof(info.pr_fname), "%s",
		 slash ? slash + 1 : program->exec_path);
	for (char **argument = program->argv; *argument && n < sizeof(info.pr_psargs); argument++)
		n += snprintf(info.pr_psargs + n, sizeof(info.pr_psargs) - n, "%s%s", n ? " " : "",
			      *argument);
	put_note(out, NT_PRPSINFO, &info, sizeof(info));
}

static void put_signal(FILE *out, int signal, const struct lwk_cause *cause)
{
	siginfo_t info = { .si_signo = signal };

	if (cause->kind == LWK_CAUSE_EXCEPTION) {
		info.si_code = SI_KERNEL;
		info.si_addr = (void *)cause->address;
	}
	put_note(out, NT_SIGINFO, &info, sizeof(info));
}

/* The files of mappings; offsets are in pages. */
static void put_files(FILE *out, const struct maps_area *areas, size_t n)
{
	char *text = NULL;
	size_t size = 0, count = 0;
	FILE *note = open_memstream(&text, &size);

	if (!note)
		return;
	for (size_t i = 0; i < n; i++)
		count += mapped_file_get(areas[i].file).path != NULL;
	fwrite((const uint64_t[]){ count, PAGE }, sizeof(uint64_t), 2, note);
	for (size_t i = 0; i < n; i++)
		if (mapped_file_get(areas[i].file).path)
			fwrite((const uint64_t[]){ areas[i].start, areas[i].end,
						   areas[i].offset / PAGE },
			       sizeof(uint64_t), 3, note);
	for (size_t i = 0; i < n; i++) {
		const char *path = mapped_file_get(areas[i].file).path;

		if (path)
			fwrite(path, strlen(path) + 1, 1, note);
	}
	if (fclose(note) == 0 && count)
		put_note(out, NT_FILE, text, size);
	free(text);
}

static void put_notes(FILE *out, const struct program *program, int signal,
		      const struct lwk_cause *cause, const struct maps_area *areas, size_t n)
{
	size_t auxv_size;
	const Elf64_auxv_t *auxv = stack_auxv(&auxv_size);

	/* Debuggers begin with the first thread. */
	for (size_t i = 0; i < n_threads; i++) {
		put_status(out, &threads[i], signal);
		if (i == 0) {
			put_process(out, program);
			put_signal(out, signal, cause);
			put_note(out, NT_AUXV, auxv, auxv_size);
			put_files(out, areas, n);
		}
		if (threads[i].n_words > FPU_AT)
			put_note(out, NT_FPREGSET, threads[i].words + FPU_AT,
				 LWK_CORE_FPU_WORDS * sizeof(uint64_t));
	}
}

/* ---- the file ---- */

/* The file while it is written, up to the limit. */
struct file {
	int fd;
	uint64_t limit;
	int error; /* the first one */
};

static void put(struct file *file, const void *from, uint64_t size, uint64_t at)
{
	uint64_t end = at + size < file->limit ? at + size : file->limit;

	while (at < end && !file->error) {
		ssize_t n = pwrite(file->fd, from, end - at, at);

		if (n < 0 && errno == EFAULT) {
			/* A page that Linux cannot see stays empty. */
			n = PAGE - (uintptr_t)from % PAGE;
		} else if (n <= 0) {
			file->error = n < 0 ? errno : EIO;
			return;
		}
		from = (const char *)from + n;
		at += n;
	}
}

/* True when the LWK tells of the pages of this mapping. Its core_tell() has the same rule. */
static bool has_contents(const struct maps_area *area)
{
	return !(area->flags & LWK_AREA_SHARED) && area->prot &&
	       area->end - area->start <= session.status->user_bytes;
}

static uint32_t segment_flags(uint64_t prot)
{
	return (prot & 1 ? PF_R : 0) | (prot & 2 ? PF_W : 0) | (prot & 4 ? PF_X : 0);
}

/* Puts the pages of one mapping at 'at'. *run is the first run that no mapping before it has. */
static void put_pages(struct file *file, const struct maps_area *area, size_t *run, uint64_t at)
{
	for (; *run < n_runs && runs[*run].start < area->end; ++*run) {
		const struct run *pages = &runs[*run];

		if (pages->start >= area->start && pages->end <= area->end)
			put(file, (const void *)pages->start, pages->end - pages->start,
			    at + pages->start - area->start);
	}
}

static void put_header(struct file *file, size_t n_segments)
{
	const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = n_segments,
	};

	put(file, &header, sizeof(header), 0);
}

static void put_segments(struct file *file, const struct maps_area *areas, size_t n,
			 const char *notes, size_t notes_size)
{
	uint64_t at = sizeof(Elf64_Ehdr) + (n + 1) * sizeof(Elf64_Phdr);
	Elf64_Phdr *segments = calloc(n + 1, sizeof(*segments));
	size_t run = 0;

	if (!segments) {
		file->error = ENOMEM;
		return;
	}
	segments[0] = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = at, .p_filesz = notes_size, .p_align = 4
	};
	put(file, notes, notes_size, at);
	at = (at + notes_size + PAGE - 1) & -PAGE;
	for (size_t i = 0; i < n; i++) {
		const struct maps_area *area = &areas[i];
		uint64_t size = area->end - area->start;

		segments[i + 1] = (Elf64_Phdr){ .p_type = PT_LOAD,
						.p_flags = segment_flags(area->prot),
						.p_offset = at,
						.p_vaddr = area->start,
						.p_filesz = has_contents(area) ? size : 0,
						.p_memsz = size,
						.p_align = PAGE };
		put_pages(file, area, &run, at);
		at += segments[i + 1].p_filesz;
	}
	put_header(file, n + 1);
	put(file, segments, (n + 1) * sizeof(*segments), sizeof(Elf64_Ehdr));
	free(segments);
	/* Pages that nobody has touched are holes, at the end, too. */
	if (!file->error && ftruncate(file->fd, at < file->limit ? at : file->limit))
		file->error = errno;
}

/* Linux writes no core file into another user's file, or one with more names. -1 with errno. */
static int create(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    st.st_uid == geteuid() && ftruncate(fd, 0) == 0)
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

static int write_file(const char *path, const char *notes, size_t notes_size,
		      const struct maps_area *areas, size_t n)
{
	struct file file = { .fd = create(path) };
	struct rlimit limit;

	if (file.fd < 0)
		return errno;
	getrlimit(RLIMIT_CORE, &limit);
	file.limit = limit.rlim_cur;
	put_segments(&file, areas, n < MAX_SEGMENTS ? n : MAX_SEGMENTS, notes, notes_size);
	if (close(file.fd) && !file.error)
		file.error = errno;
	return file.error;
}

void core_write(const struct program *program, int wait_status, const struct lwk_cause *cause,
		struct core_text *text)
{
	const struct maps_area *areas;
	char path[PATH_MAX], *notes = NULL;
	size_t n, notes_size = 0;
	FILE *out;
	int error = ENOMEM;

	text->text[0] = '\0';
	if (!wanted || !n_threads || !WIFSIGNALED(wait_status))
		return;
	areas = maps_areas(&n);
	core_path(path, program->exec_path, WTERMSIG(wait_status));
	out = open_memstream(&notes, &notes_size);
	if (out) {
		put_notes(out, program, WTERMSIG(wait_status), cause, areas, n);
		if (fclose(out) == 0)
			error = write_file(path, notes, notes_size, areas, n);
	}
	free(notes);
	if (error)
		snprintf(text->text, sizeof(text->text), "; no core file, %s: %s", path,
			 strerror(error));
	else
		snprintf(text->text, sizeof(text->text), "; core file: %s", path);
}
