// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests journals: what they record, and how torn and damaged ones are read. */
#include "unit/allocation.h"
#include "unit/unit.h"

#include <dirent.h>
#include <fcntl.h>

#include "store/journal.h"

#define NAME "jobs/7.journal"

static struct journal *create(void)
{
	struct journal *journal;
	struct ms_error err;

	assert_int_equal(journal_create(7, 1000, "lwkpart", &journal, &err), 0);
	return journal;
}

static void record(struct journal *journal, const char *step, int number)
{
	struct json_object *details = json_object_new_object();
	struct ms_error err;

	json_object_object_add(details, "number", json_object_new_int(number));
	assert_int_equal(journal_record(journal, step, details, &err), 0);
}

static void append(const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/" NAME, unit_dir);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void round_trip(void **state)
{
	struct journal *journal = create(), *again;
	struct json_object *entry;
	struct ms_error err;
	struct stat st;
	char path[128];

	record(journal, "cpus", 1);
	assert_int_equal(journal_record(journal, "memory", NULL, &err), 0);
	record(journal, "memory", 3);
	journal_close(journal);
	snprintf(path, sizeof(path), "%s/" NAME, unit_dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);

	assert_int_equal(journal_open(7, &again, &err), 1);
	assert_int_equal(again->job_id, 7);
	assert_int_equal(again->uid, 1000);
	assert_string_equal(again->driver, "lwkpart");
	assert_int_equal(json_object_array_length(again->entries), 3);
	entry = json_object_array_get_idx(again->entries, 0);
	assert_string_equal(journal_text(entry, "step"), "cpus");
	assert_int_equal(journal_number(entry, "number"), 1);
	entry = json_object_array_get_idx(again->entries, 1);
	assert_string_equal(journal_text(entry, "step"), "memory");
	assert_string_equal(journal_text(entry, "number"), "");
	assert_int_equal(journal_number(entry, "number"), 0);
	assert_int_equal(journal_number(json_object_array_get_idx(again->entries, 2), "number"), 3);
	journal_close(again);

	assert_int_equal(journal_remove(7, &err), 0);
	assert_int_equal(journal_remove(7, &err), 0);
	assert_int_equal(journal_open(7, &again, &err), 0);
}

static int create_in_child(struct ms_error *err)
{
	struct journal *journal;

	if (journal_create(7, 1000, "lwkpart", &journal, err) < 0)
		return -1;
	journal_close(journal);
	return 0;
}

/* A number of a process that has ended may be another's. */
static void its_maker_is_known_and_lives_or_not(void **state)
{
	struct journal *journal = create();
	struct ms_error err;
	struct maker maker;

	record(journal, "cpus", 1);
	journal_close(journal);
	assert_true(journal_maker(7, &maker));
	assert_int_equal(maker.pid, getpid());
	assert_has(maker.name, "test-journal");
	assert_true(maker_lives(&maker));
	maker.started++;
	assert_false(maker_lives(&maker));
	assert_int_equal(journal_remove(7, &err), 0);
	assert_false(journal_maker(7, &maker));

	assert_int_equal(unit_in_child(create_in_child), 0);
	assert_true(journal_maker(7, &maker));
	assert_int_not_equal(maker.pid, getpid());
	assert_false(maker_lives(&maker));
	assert_int_equal(journal_remove(7, &err), 0);

	/* An earlier version does not tell. */
	unit_file(NAME, "{\"version\":1,\"job_id\":7,\"uid\":1000,\"driver\":\"lwkpart\"}\n");
	assert_false(journal_maker(7, &maker));
}

static void each_line_is_there_before_its_record_returns(void **state)
{
	struct journal *journal = create();

	assert_has(unit_read(NAME), "\"job_id\":7");
	record(journal, "cpus", 42);
	assert_has(unit_read(NAME), "42");
	journal_close(journal);
}

static void a_torn_last_line_is_ignored(void **state)
{
	struct journal *journal = create(), *again;
	struct ms_error err;

	record(journal, "cpus", 1);
	journal_close(journal);
	append("{\"step\":\"memory\",\"blo");
	assert_int_equal(journal_open(7, &again, &err), 1);
	assert_int_equal(json_object_array_length(again->entries), 1);
	journal_close(again);
}

/* Changes bytes of the journal's file. */
static void change(const char *whole, size_t at, const char *bytes, size_t n)
{
	char path[128];
	int fd;

	unit_file(NAME, "%s", whole);
	snprintf(path, sizeof(path), "%s/" NAME, unit_dir);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, bytes, n, at), n);
	close(fd);
}

static void make_two_steps(char *whole, size_t size)
{
	struct journal *journal = create();

	record(journal, "cpus", 1);
	record(journal, "memory", 2);
	journal_close(journal);
	assert_in_range(snprintf(whole, size, "%s", unit_read(NAME)), 1, size - 1);
}

/* No step is another one than it was. */
static void assert_steps(struct journal *journal, size_t n)
{
	assert_int_equal(json_object_array_length(journal->entries), n);
	for (size_t i = 0; i < n; i++) {
		struct json_object *entry = json_object_array_get_idx(journal->entries, i);
		bool cpus = strcmp(journal_text(entry, "step"), "cpus") == 0;

		assert_int_equal(journal_number(entry, "number"), cpus ? 1 : 2);
	}
}

static void any_one_byte_may_change(void **state)
{
	static const char changes[] = { '\0', '1', '\n', '}', ' ', '\xff' };
	struct journal *journal;
	struct ms_error err;
	char whole[2048];

	make_two_steps(whole, sizeof(whole));
	for (size_t i = 0; i < strlen(whole) * sizeof(changes); i++) {
		change(whole, i / sizeof(changes), &changes[i % sizeof(changes)], 1);
		assert_int_equal(journal_open(7, &journal, &err), 1);
		assert_int_equal(journal->damaged_line, 0);
		assert_string_equal(journal->driver, "lwkpart");
		assert_steps(journal, 2);
		journal_close(journal);
	}
}

static void an_object_without_a_good_line_is_noticed(void **state)
{
	struct journal *journal;
	struct ms_error err;
	char whole[2048], *line;
	size_t length;

	make_two_steps(whole, sizeof(whole));
	line = whole;
	for (unsigned n = 0; n < 3; n++) {
		char text[1024];

		length = strchr(line, '\n') + 1 - line;
		assert_memory_equal(line, line + length, length);
		memset(text, 'x', 2 * length);
		text[length - 1] = '\n';
		text[2 * length - 1] = '\n';
		change(whole, line - whole, text, 2 * length);
		assert_int_equal(journal_open(7, &journal, &err), 1);
		assert_int_equal(journal->damaged_line, 2 * n + 1);
		assert_steps(journal, n ? 1 : 2);
		journal_close(journal);

		/* Lines that are gone are noticed where others come after them. */
		unit_file(NAME, "%.*s%s", (int)(line - whole), whole, line + 2 * length);
		assert_int_equal(journal_open(7, &journal, &err), 1);
		assert_int_equal(journal->damaged_line, n < 2 ? 2 * n + 1 : 0);
		journal_close(journal);
		line += 2 * length;
	}
}

static void even_the_first_line_may_be_torn(void **state)
{
	struct journal *again;
	struct ms_error err;

	unit_file(NAME, "{\"version\":1,\"jo");
	assert_int_equal(journal_open(7, &again, &err), 1);
	assert_int_equal(json_object_array_length(again->entries), 0);
	journal_close(again);
}

#define HEADER "{\"version\":1,\"job_id\":7,\"driver\":\"lwkpart\"}\n"

static void damage_is_noticed_and_the_rest_is_read(void **state)
{
	static const struct {
		const char *text;
		unsigned line, entries;
	} bad[] = {
		{ "rubbish\n{\"step\":\"cpus\"}\n", 1, 1 },
		{ "rubbish\nrubbish\n", 1, 0 },
		{ "[]\n", 1, 0 },
		{ "{\"version\":3,\"job_id\":7}\n", 1, 0 },
		{ "{\"version\":1,\"job_id\":8}\n", 1, 0 },
		{ HEADER "{\"block\":1}\n{\"step\":\"cpus\"}\n", 2, 1 },
		{ HEADER "{\"step\":\"cpus\"}\n\n", 3, 1 },
		{ HEADER "{\"step\":null}\n{\"step\":\"cpus\"}\n", 2, 1 },
		{ HEADER "{\"step\":\"cpus\"}\n", 0, 1 },
	};
	struct journal *journal;
	struct ms_error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		unit_file(NAME, "%s", bad[i].text);
		assert_int_equal(journal_open(7, &journal, &err), 1);
		assert_int_equal(journal->damaged_line, bad[i].line);
		assert_int_equal(json_object_array_length(journal->entries), bad[i].entries);
		journal_close(journal);
	}
}

static void a_job_has_one_journal(void **state)
{
	struct journal *journal = create(), *second;
	struct ms_error err;

	assert_int_equal(journal_create(7, 1000, "lwkpart", &second, &err), -1);
	assert_has(err.text, "File exists");
	journal_close(journal);
}

static void a_link_is_not_followed(void **state)
{
	struct journal *journal;
	struct ms_error err;
	char link[128];

	unit_file("jobs/none", "x");
	snprintf(link, sizeof(link), "%s/" NAME, unit_dir);
	assert_int_equal(symlink(unit_file("elsewhere", "precious"), link), 0);
	assert_int_equal(journal_create(7, 1000, "lwkpart", &journal, &err), -1);
	assert_int_equal(journal_open(7, &journal, &err), -1);
	assert_string_equal(unit_read("elsewhere"), "precious");
}

static void a_state_directory_for_everybody_is_refused(void **state)
{
	struct journal *journal;
	struct ms_error err;

	assert_int_equal(chmod(unit_dir, 0777), 0);
	assert_int_equal(journal_create(7, 1000, "lwkpart", &journal, &err), -1);
	assert_has(err.text, "nobody else can write");
}

static void without_memory_there_is_none(void **state)
{
	struct journal *journal;
	struct ms_error err;

	for (unsigned n = 1; n <= 2; n++) {
		allocation_fail(n);
		assert_int_equal(journal_create(7, 1000, "lwkpart", &journal, &err), -1);
		assert_true(allocation_failed());
		assert_has(err.text, "out of memory");
		assert_false(unit_exists(NAME));
	}
}

static int count_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static int files_before;

static int setup(void **state)
{
	files_before = count_files();
	return unit_setup(state);
}

/* No file stays open, whatever became of a journal. */
static int teardown(void **state)
{
	int files = count_files();

	if (files != files_before)
		print_error("expected %d open files, found %d\n", files_before, files);
	return unit_teardown(state) < 0 || files != files_before ? -1 : 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(round_trip),
		TEST(its_maker_is_known_and_lives_or_not),
		TEST(each_line_is_there_before_its_record_returns),
		TEST(a_torn_last_line_is_ignored),
		TEST(any_one_byte_may_change),
		TEST(an_object_without_a_good_line_is_noticed),
		TEST(even_the_first_line_may_be_torn),
		TEST(damage_is_noticed_and_the_rest_is_read),
		TEST(a_job_has_one_journal),
		TEST(a_link_is_not_followed),
		TEST(a_state_directory_for_everybody_is_refused),
		TEST(without_memory_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
