// SPDX-License-Identifier: GPL-2.0-or-later
#include "store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "base/process.h"
#include "store/state.h"

#define MAX_JOURNAL (16UL << 20)

static struct journal *new_journal(uint32_t job_id)
{
	struct journal *journal = calloc(1, sizeof(*journal));

	if (!journal)
		return NULL;
	journal->job_id = job_id;
	journal->fd = -1;
	journal->last = -1;
	journal->entries = json_object_new_array();
	return journal;
}

/*
 * A line's checksum follows its object: JSON with a changed byte may be valid, and name another
 * CPU. The checksum is FNV-1a, as a space and eight digits; a NUL ends it.
 */
#define SUM_LENGTH 9

static void print_sum(const char *text, size_t length, char out[SUM_LENGTH + 1])
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < length; i++)
		sum = (sum ^ (unsigned char)text[i]) * 16777619u;
	snprintf(out, SUM_LENGTH + 1, " %08x", sum);
}

static int append(struct journal *journal, struct json_object *object, struct ms_error *err)
{
	const char *text;
	size_t length, all;
	char *lines;
	int ret = 0;

	json_add_number(object, "n", journal->last + 1);
	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	length = strlen(text);
	all = length + SUM_LENGTH + 1;
	lines = malloc(2 * all);
	if (!lines)
		return ms_fail(err, "out of memory");
	memcpy(lines, text, length);
	print_sum(text, length, lines + length);
	lines[all - 1] = '\n';
	memcpy(lines + all, lines, all);
	if (write(journal->fd, lines, 2 * all) != (ssize_t)(2 * all) || fsync(journal->fd) < 0)
		ret = ms_fail(err, "the journal of job %u cannot be written: %m", journal->job_id);
	else
		journal->last++;
	free(lines);
	return ret;
}

static void add_maker(struct json_object *header)
{
	char name[sizeof(((struct maker *)0)->name)];
	pid_t self = getpid();

	if (kernel_read(name, sizeof(name), "/proc/%d/comm", self) < 0)
		*name = '\0';
	ms_make_printable(name);
	json_add_number(header, "maker", self);
	json_add_number(header, "maker_started", process_started(self));
	json_add_text(header, "maker_name", name);
}

static void read_maker(struct json_object *header, struct maker *maker)
{
	maker->pid = journal_number(header, "maker");
	maker->started = journal_number(header, "maker_started");
	snprintf(maker->name, sizeof(maker->name), "%s", journal_text(header, "maker_name"));
}

bool journal_maker(uint32_t job_id, struct maker *maker)
{
	struct journal *journal;
	struct ms_error ignored;

	if (journal_open(job_id, &journal, &ignored) != FOUND)
		return false;
	*maker = journal->maker;
	journal_close(journal);
	return maker->pid > 0;
}

bool maker_lives(const struct maker *maker)
{
	return maker->started && process_started(maker->pid) == maker->started;
}

int journal_create(uint32_t job_id, uid_t uid, const char *driver, struct journal **out,
		   struct ms_error *err)
{
	struct journal *journal = new_journal(job_id);
	struct json_object *header = json_object_new_object();
	int dir = state_open_jobs(err), ret = -1;
	char name[32];

	snprintf(name, sizeof(name), "%u.journal", job_id);
	if (!journal || !header || dir < 0) {
		ret = dir < 0 ? -1 : ms_fail(err, "out of memory");
		goto out;
	}
	journal->uid = uid;
	snprintf(journal->driver, sizeof(journal->driver), "%s", driver);
	journal->fd = openat(dir, name,
			     O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (journal->fd < 0) {
		ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
		goto out;
	}
	json_object_object_add(header, "version", json_object_new_int(JOURNAL_VERSION));
	json_object_object_add(header, "job_id", json_object_new_int64(job_id));
	json_object_object_add(header, "uid", json_object_new_int64(uid));
	json_object_object_add(header, "driver", json_object_new_string(driver));
	add_maker(header);
	ret = append(journal, header, err);
	if (ret == 0 && fsync(dir) < 0)
		ret = ms_fail(err, "%s/jobs: %m", state_dir);
	if (ret < 0)
		unlinkat(dir, name, 0);
out:
	json_object_put(header);
	if (dir >= 0)
		close(dir);
	if (ret == 0)
		*out = journal;
	else
		journal_close(journal);
	return ret;
}

/* Returns the whole file with a NUL, to be freed with free(); or NULL with errno set. */
static char *read_whole(int fd)
{
	struct stat st;
	char *text = NULL;

	if (fstat(fd, &st) == 0 && st.st_size < (off_t)MAX_JOURNAL)
		text = malloc(st.st_size + 1);
	if (!text)
		return NULL;
	if (pread(fd, text, st.st_size, 0) != st.st_size) {
		free(text);
		return NULL;
	}
	/* A NUL in the file is damage, and would hide the lines after it. */
	for (off_t i = 0; i < st.st_size; i++)
		text[i] = text[i] ? text[i] : '?';
	text[st.st_size] = '\0';
	return text;
}

/* The length of the line's object; what follows it must be the checksum. */
static size_t object_length(const char *line)
{
	const char *end = strrchr(line, '}');

	return end ? end + 1 - line : 0;
}

static bool has_sum(const char *line)
{
	size_t length = object_length(line);
	char sum[SUM_LENGTH + 1];

	print_sum(line, length, sum);
	return strcmp(line + length, sum) == 0;
}

/*
 * Reads the object of a line; NULL: it is damaged. Where the newline between the two lines of an
 * object has changed, the second one is cut off. Releases before 0.3 wrote no checksums.
 */
static struct json_object *parse_line(char *line)
{
	struct json_object *object;
	bool sum = has_sum(line);

	if (!sum && line[object_length(line)]) {
		line[strlen(line) / 2] = '\0';
		sum = has_sum(line);
		if (!sum)
			return NULL;
	}
	object = json_tokener_parse(line);
	if (json_object_is_type(object, json_type_object) &&
	    (sum || !json_object_object_get_ex(object, "n", NULL)))
		return object;
	json_object_put(object);
	return NULL;
}

static bool read_header(struct journal *journal, struct json_object *object)
{
	journal->version = journal_number(object, "version");
	journal->uid = journal_number(object, "uid");
	snprintf(journal->driver, sizeof(journal->driver), "%s", journal_text(object, "driver"));
	read_maker(object, &journal->maker);
	return journal->version && journal->version <= JOURNAL_VERSION &&
	       journal_number(object, "job_id") == journal->job_id;
}

static bool read_object(struct journal *journal, struct json_object *object)
{
	if (journal->last == 0)
		return read_header(journal, object);
	return *journal_text(object, "step") &&
	       json_object_array_add(journal->entries, json_object_get(object)) == 0;
}

static void note_damage(struct journal *journal, unsigned line)
{
	if (!journal->damaged_line)
		journal->damaged_line = line;
}

/* How far a journal is read. */
struct reading {
	unsigned line;
	unsigned first_bad; /* of the bad lines since the last good one; 0: there is none */
	unsigned bad;	    /* how many these are */
	unsigned copies;    /* good lines that the last object has */
};

static void read_good_line(struct journal *journal, struct reading *reading,
			   struct json_object *object)
{
	bool counted = json_object_object_get_ex(object, "n", NULL);
	/* Where lines have no copies, each bad one is an object. */
	uint64_t next = journal->last + 1;
	uint64_t n = counted ? journal_number(object, "n") : next + reading->bad;

	if (counted && journal->last >= 0 && n == (uint64_t)journal->last) {
		reading->copies++;
	} else if (n < next || n > MAX_JOURNAL) {
		note_damage(journal, reading->line);
	} else {
		if (n > next)
			note_damage(journal,
				    reading->first_bad ? reading->first_bad : reading->line);
		journal->last = n;
		if (!read_object(journal, object))
			note_damage(journal, reading->line);
		/* An object without a copy needs none. */
		reading->copies = counted ? 1 : 2;
	}
	reading->bad = reading->first_bad = 0;
}

static void read_line(struct journal *journal, struct reading *reading, char *line)
{
	struct json_object *object = parse_line(line);

	reading->line++;
	if (object) {
		read_good_line(journal, reading, object);
	} else {
		reading->bad++;
		if (!reading->first_bad)
			reading->first_bad = reading->line;
	}
	json_object_put(object);
}

/*
 * Bad lines at the end are the copy of the last object, which one changed byte can make two lines
 * of, or else other objects.
 */
static void end_reading(struct journal *journal, const struct reading *reading)
{
	unsigned excused = reading->copies == 1 ? 2 : 0;

	if (reading->bad > excused)
		note_damage(journal, reading->first_bad);
}

/*
 * A last line without its newline was being written, so its step has not begun; unless only the
 * newline is missing, or has changed and is cut off here.
 */
static bool is_last_line(char *line)
{
	size_t length = strlen(line);

	if (!has_sum(line) && length)
		line[length - 1] = '\0';
	return has_sum(line);
}

enum found journal_open(uint32_t job_id, struct journal **out, struct ms_error *err)
{
	struct journal *journal = new_journal(job_id);
	char name[32], *text = NULL, *line, *end;
	int dir = state_open_jobs_readonly(), fd = -1;
	enum found found = FOUND_ERROR;
	struct reading reading = { .line = 0 };

	snprintf(name, sizeof(name), "%u.journal", job_id);
	if (dir >= 0)
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (!journal)
		ms_fail(err, "out of memory");
	else if (fd < 0 && errno == ENOENT)
		found = FOUND_NONE;
	else if (fd < 0 || !(text = read_whole(fd)))
		ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
	else
		found = FOUND;
	for (line = text; line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		read_line(journal, &reading, line);
	}
	if (line && is_last_line(line))
		read_line(journal, &reading, line);
	if (found == FOUND)
		end_reading(journal, &reading);
	free(text);
	if (fd >= 0)
		close(fd);
	if (dir >= 0)
		close(dir);
	if (found == FOUND)
		*out = journal;
	else
		journal_close(journal);
	return found;
}

int journal_record(struct journal *journal, const char *step, struct json_object *details,
		   struct ms_error *err)
{
	struct json_object *entry = details ? details : json_object_new_object();

	if (!entry)
		return ms_fail(err, "out of memory");
	json_object_object_add(entry, "step", json_object_new_string(step));
	if (append(journal, entry, err) < 0) {
		json_object_put(entry);
		return -1;
	}
	json_object_array_add(journal->entries, entry);
	return 0;
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	if (journal->fd >= 0)
		close(journal->fd);
	json_object_put(journal->entries);
	free(journal);
}

int journal_remove(uint32_t job_id, struct ms_error *err)
{
	char name[32];
	int dir = state_open_jobs(err), ret = 0;

	if (dir < 0)
		return -1;
	snprintf(name, sizeof(name), "%u.journal", job_id);
	if ((unlinkat(dir, name, 0) < 0 && errno != ENOENT) || fsync(dir) < 0)
		ret = ms_fail(err, "%s/jobs/%s: %m", state_dir, name);
	close(dir);
	return ret;
}

const char *journal_text(struct json_object *object, const char *key)
{
	struct json_object *member;

	/* A member that is null has no text. */
	return json_object_object_get_ex(object, key, &member) && member
		       ? json_object_get_string(member)
		       : "";
}

uint64_t journal_number(struct json_object *object, const char *key)
{
	struct json_object *member;

	return json_object_object_get_ex(object, key, &member) ? json_object_get_uint64(member) : 0;
}
