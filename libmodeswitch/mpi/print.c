// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <string.h>

#include "mpi/page.h"

/* Seconds for a number of ticks; 0 when the page has no two readings of both clocks. */
static double seconds(const struct page *page, uint64_t ticks)
{
	double span = (double)page->last_ticks - (double)page->first_ticks;
	double ns = (double)page->last_ns - (double)page->first_ns;

	return span > 0 && ns > 0 ? ticks * (ns / span) / 1e9 : 0;
}

/* Prints at most 'size' characters as a JSON string; those that JSON would escape become '?'. */
static void print_text(const char *text, size_t size, FILE *out)
{
	putc('"', out);
	for (size_t i = 0; i < size && text[i]; i++) {
		unsigned char c = text[i];

		putc(c < ' ' || c > '~' || c == '"' || c == '\\' ? '?' : c, out);
	}
	putc('"', out);
}

static void print_calls(const struct page *page, FILE *out)
{
	fputs(",\"calls\":[", out);
	for (uint32_t i = 0; i < page->n_calls && i < PAGE_CALLS; i++) {
		fputs(i ? ",[" : "[", out);
		print_text(page->calls[i].name, sizeof(page->calls[i].name), out);
		fprintf(out, ",%" PRIu64 ",%.9f]", page->calls[i].n,
			seconds(page, page->calls[i].ticks));
	}
	putc(']', out);
}

/* Prints a line for each group, and its list of members only in the group's first rank. */
static void print_groups(const struct page *page, FILE *out)
{
	fputs(",\"groups\":[", out);
	for (uint32_t i = 0; i < page->n_groups && i < PAGE_GROUPS; i++) {
		const struct page_group *group = &page->groups[i];
		bool listed = !group->stride && group->first == page->rank &&
			      group->members < PAGE_MEMBERS &&
			      group->size <= PAGE_MEMBERS - group->members;

		fprintf(out, "%s{\"id\":\"%016" PRIx64 "\",\"size\":%u,\"first\":%u,\"stride\":%u",
			i ? "," : "", group->id, group->size, group->first, group->stride);
		for (uint32_t j = 0; listed && j < group->size; j++)
			fprintf(out, "%s%u", j ? "," : ",\"members\":[",
				page->members[group->members + j]);
		fputs(listed && group->size ? "]}" : "}", out);
	}
	putc(']', out);
}

static void print_collectives(const struct page *page, FILE *out)
{
	const char *comma = "";

	fputs(",\"collectives\":[", out);
	for (uint32_t i = 0; i < PAGE_COLLECTIVES; i++) {
		const struct page_collective *row = &page->collectives[i];

		if (!row->used || row->call >= PAGE_CALLS || row->class >= PAGE_CLASSES)
			continue;
		fprintf(out, "%s[", comma);
		print_text(page->calls[row->call].name, sizeof(page->calls[row->call].name), out);
		fprintf(out, ",%d,%u,%" PRIu64 ",%" PRIu64 ",%.9f]",
			row->group < PAGE_GROUPS ? (int)row->group : -1, row->class, row->n,
			row->bytes, seconds(page, row->ticks));
		comma = ",";
	}
	putc(']', out);
}

/* Prints a row for each peer and class; the unknown peer is -1. */
static void print_peers(const struct page *page, const char *name, size_t from, FILE *out)
{
	const char *comma = "";

	fprintf(out, ",\"%s\":[", name);
	for (uint32_t peer = 0; peer <= page->ranks; peer++) {
		for (unsigned class = 0; class < PAGE_CLASSES; class ++) {
			const struct page_peer *row = &page->peers[from + peer][class];

			if (!row->n)
				continue;
			fprintf(out, "%s[%d,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", comma,
				peer < page->ranks ? (int)peer : -1, class, row->n, row->bytes,
				row->blocking);
			comma = ",";
		}
	}
	putc(']', out);
}

/* Prints [peer, leads, follows, hidden, seconds of streams] for each peer with turns; the unknown peer is -1. */
static void print_turns(const struct page *page, FILE *out)
{
	const char *comma = "";

	fputs(",\"turns\":[", out);
	for (uint32_t peer = 0; peer <= page->ranks; peer++) {
		const struct page_turns *row = &page_turns(page)[peer];

		if (!row->leads && !row->follows)
			continue;
		fprintf(out, "%s[%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9f]", comma,
			peer < page->ranks ? (int)peer : -1, row->leads, row->follows, row->hidden,
			seconds(page, row->stream_ticks));
		comma = ",";
	}
	putc(']', out);
}

static bool is_page(const struct page *page, size_t size)
{
	return size >= sizeof(*page) && page->magic == PAGE_MAGIC && page->ranks &&
	       page->ranks <= PAGE_RANKS_MAX && page->rank < page->ranks &&
	       size >= page_size(page->ranks);
}

bool page_print(const struct page *page, size_t size, FILE *out)
{
	if (!is_page(page, size))
		return false;
	fprintf(out, "{\"rank\":%u,\"host\":", page->rank);
	print_text(page->host, sizeof(page->host), out);
	fputs(",\"program\":", out);
	print_text(page->program, sizeof(page->program), out);
	fprintf(out, ",\"program_hash\":\"%016" PRIx64 "\"", page->program_hash);
	fprintf(out, ",\"seconds\":%.9f,\"mpi_seconds\":%.9f",
		seconds(page, page->last_ticks - page->first_ticks),
		seconds(page, page->mpi_ticks));
	fprintf(out, ",\"unknown_sizes\":%" PRIu64 ",\"lost\":%" PRIu64, page->unknown_sizes,
		page->lost);
	print_calls(page, out);
	print_groups(page, out);
	print_collectives(page, out);
	print_peers(page, "sent", 0, out);
	print_peers(page, "fetched", (size_t)page->ranks + 1, out);
	print_turns(page, out);
	putc('}', out);
	return true;
}

/* ---- sums ---- */

static void add(uint64_t *sum, uint64_t more)
{
	*sum = more < PAGE_SUMS_MAX - *sum ? *sum + more : PAGE_SUMS_MAX;
}

void page_sums_add(struct page_sums *sums, const struct page_sums *more)
{
	add(&sums->ranks, more->ranks);
	add(&sums->ns, more->ns);
	add(&sums->mpi_ns, more->mpi_ns);
	add(&sums->messages, more->messages);
	add(&sums->operations, more->operations);
	add(&sums->bytes, more->bytes);
}

static uint64_t nanoseconds(const struct page *page, uint64_t ticks)
{
	double ns = seconds(page, ticks) * 1e9;

	return ns < (double)PAGE_SUMS_MAX ? ns : PAGE_SUMS_MAX;
}

bool page_sum(const struct page *page, size_t size, struct page_sums *sums)
{
	if (!is_page(page, size))
		return false;
	*sums = (struct page_sums){ .magic = PAGE_SUMS_MAGIC, .ranks = 1 };
	sums->ns = nanoseconds(page, page->last_ticks - page->first_ticks);
	sums->mpi_ns = nanoseconds(page, page->mpi_ticks);
	for (size_t peer = 0; peer < 2 * ((size_t)page->ranks + 1); peer++) {
		for (unsigned class = 0; class < PAGE_CLASSES; class ++) {
			add(&sums->messages, page->peers[peer][class].n);
			add(&sums->bytes, page->peers[peer][class].bytes);
		}
	}
	for (uint32_t i = 0; i < PAGE_COLLECTIVES; i++) {
		const struct page_collective *row = &page->collectives[i];

		add(&sums->operations, row->used ? row->n : 0);
		add(&sums->bytes, row->used ? row->bytes : 0);
	}
	return true;
}

void page_part_path(const char *path, const char *word, char *part, size_t size)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	int stem = dot && (!slash || dot > slash + 1) ? dot - path : (int)strlen(path);

	snprintf(part, size, "%.*s.%s%s", stem, path, word, path + stem);
}
