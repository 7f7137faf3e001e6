// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/mpi/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/trust.h"
#include "lwkctl/common.h"

/* The size of a page of 160000 ranks. Larger files are no pages. */
#define PAGE_BYTES_MAX (64 << 20)
#define PAGES_MAX 4096
/* Directories in each other that are removed. */
#define DEPTH_MAX 64
/* The most memory that the user's pages can make a process of root's take. */
#define MEMORY_MAX (1UL << 30)

/* Copies the file first: its owner can truncate it at any time. */
static int print_page(int directory, const char *name, FILE *out, struct pages *pages, int *ranks)
{
	int fd = open_within(directory, name, O_RDONLY | O_NONBLOCK);
	struct page_sums sums;
	struct stat st;
	struct page *page;
	ssize_t length;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > PAGE_BYTES_MAX) {
		pages->others++;
	} else if (st.st_size == sizeof(sums) && read(fd, &sums, sizeof(sums)) == sizeof(sums) &&
		   sums.magic == PAGE_SUMS_MAGIC) {
		pages->ended++;
		sums.ranks = 1;
		page_sums_add(&pages->sums, &sums);
	} else {
		page = malloc(st.st_size + 1);
		length = page ? pread(fd, page, st.st_size, 0) : -1;
		if (length >= (ssize_t)sizeof(*page) && *ranks == 0) {
			/* The first page tells how many ranks there are, in front of all pages. */
			*ranks = page->ranks;
			fprintf(out, "%d,\"parts\":[\n", *ranks);
		}
		if (length > 0 && page_print(page, length, out)) {
			pages->printed++;
			if (page_sum(page, length, &sums))
				page_sums_add(&pages->sums, &sums);
			fputs(",\n", out);
		} else {
			pages->others++;
		}
		free(page);
	}
	if (fd >= 0)
		close(fd);
	return 0;
}

static int open_pages(const char *directory)
{
	return open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int pages_print(const char *directory, const char *job, FILE *out, struct pages *pages,
		struct ms_error *err)
{
	int fd = open_pages(directory), ranks = 0;
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	memset(pages, 0, sizeof(*pages));
	if (!entries) {
		ms_fail(err, "%s: %m", directory);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	fprintf(out, "{\"version\":1,\"job\":\"%s\",\"ranks\":", job);
	for (int i = 0; i < PAGES_MAX && (entry = readdir(entries)); i++) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			print_page(fd, entry->d_name, out, pages, &ranks);
	}
	/* An empty object closes the list after its last comma; it is no rank's. */
	fputs(ranks ? "{}]}\n" : "0}\n", out);
	closedir(entries);
	return 0;
}

static int take_rights(const char *as, struct ms_error *err)
{
	const struct rlimit memory = { MEMORY_MAX, MEMORY_MAX };
	unsigned uid, gid;

	if (sscanf(as, "%u:%u", &uid, &gid) != 2)
		return ms_fail(err, "--as: expected UID:GID, found \"%s\"", as);
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return ms_fail(err, "--as: expected to become user %u, found %m", uid);
	if (setrlimit(RLIMIT_AS, &memory) < 0)
		return ms_fail(err, "--as: expected a limit of memory, found %m");
	return 0;
}

/* Removes what is in the directory, and closes it. A file system that is mounted there stays, and is not asked. */
static void remove_entries(int directory, int depth)
{
	DIR *entries = directory < 0 ? NULL : fdopendir(directory);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    unlinkat(directory, name, 0) == 0)
			continue;
		if (depth < DEPTH_MAX)
			remove_entries(open_within(directory, name, O_RDONLY | O_DIRECTORY),
				       depth + 1);
		unlinkat(directory, name, AT_REMOVEDIR);
	}
	if (entries)
		closedir(entries);
	else if (directory >= 0)
		close(directory);
}

static int write_part(const char *path, const char *text, size_t length, struct ms_error *err)
{
	int fd;
	ssize_t written;

	/* Removes the part of an earlier run with this name; of a link, the link only. */
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return ms_fail(err, "%s: %m", path);
	written = write(fd, text, length);
	if (close(fd) < 0 || written != (ssize_t)length) {
		ms_fail(err, "%s: expected to write %zu bytes, found room for %zd: %m", path,
			length, written);
		unlink(path);
		return -1;
	}
	return 0;
}

static void tell(const struct page_sums *sums, const char *message, bool json)
{
	struct json_object *object;

	if (!json) {
		fputs(message, stdout);
		return;
	}
	object = json_object_new_object();
	json_add_number(object, "ranks", sums->ranks);
	json_add_number(object, "ns", sums->ns);
	json_add_number(object, "mpi_ns", sums->mpi_ns);
	json_add_number(object, "messages", sums->messages);
	json_add_number(object, "operations", sums->operations);
	json_add_number(object, "bytes", sums->bytes);
	json_add_text(object, "message", message);
	print_json(object);
}

int pages_save(const char *directory, const char *path, const struct saving *saving,
	       struct ms_error *err)
{
	const char *slash = strrchr(directory, '/'), *job = slash ? slash + 1 : directory;
	char node[65] = "node", part[4352], message[sizeof(part) + 256] = "", *text = NULL;
	struct pages pages;
	size_t length;
	FILE *out;
	int ret;

	if (saving->as && take_rights(saving->as, err) < 0)
		return -1;
	out = open_memstream(&text, &length);
	if (!out)
		return ms_fail(err, "%s: %m", directory);
	ret = pages_print(directory, job, out, &pages, err);
	if (fclose(out) && ret == 0)
		ret = ms_fail(err,
			      "%s: expected profiles that fit into %lu MB of memory, found %m; "
			      "look for files there that are no profiles",
			      directory, MEMORY_MAX >> 20);
	gethostname(node, sizeof(node) - 1);
	page_part_path(path, node, part, sizeof(part));
	if (ret == 0 && pages.printed) {
		ret = write_part(part, text, length, err);
		snprintf(message, sizeof(message),
			 "%d rank%s of step %s did not come to MPI_Finalize on this node; the "
			 "profile of their traffic is in %s\n",
			 pages.printed, pages.printed == 1 ? "" : "s", job, part);
	} else if (ret == 0 && !pages.ended && !saving->quiet) {
		snprintf(message, sizeof(message),
			 "step %s has no profile: none of its programs on this node called "
			 "MPI_Init in a shared MPI library. A statically linked program cannot "
			 "have one: link it with the shared library.\n",
			 job);
	}
	if (ret == 0)
		tell(&pages.sums, message, saving->json);
	free(text);
	remove_entries(open_pages(directory), 0);
	return ret;
}
