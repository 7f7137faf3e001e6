// SPDX-License-Identifier: GPL-2.0-or-later
/* A job's record, and the list of memory that was moved away for it. */
#include "store/record.h"

#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>

#include "fuzz.h"
#include "library/files.h"
#include "migrate/home/away_list.h"

/* Reads the file and writes it again; true when that leaves it as it was. */
static bool write_again(bool must_be_good)
{
	struct json_object *object;
	static char *written;
	struct ms_error err;
	struct ms_job job;
	const char *text;
	bool same;

	if (ms_job_get(7, &job, &err) != 1) {
		must(!must_be_good && *err.text);
		return true;
	}
	must(ms_job_state_word(job.state));
	object = ms_job_to_json(&job);
	text = json_object_to_json_string(object);
	same = written && strcmp(text, written) == 0;
	files_put("jobs/7.json", text, strlen(text));
	free(written);
	written = strdup(text);
	json_object_put(object);
	ms_job_release(&job);
	return same;
}

/* Numbers that are too large for a record become others, once. */
static void read_record(const uint8_t *data, size_t size)
{
	files_put("jobs/7.json", data, size);
	if (!write_again(false) && !write_again(true))
		must(write_again(true));
}

static void read_away_list(const uint8_t *data, size_t size)
{
	struct away_lines lines = { 0 };
	struct ms_error err;

	files_put("jobs/7.away", data, size);
	away_list_read(7, &lines, &err);
	for (size_t i = 1; i < lines.n; i++)
		must(lines.all[i - 1].node <= lines.all[i].node);
	free(lines.all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && *data == '{')
		read_record(data, size);
	else
		read_away_list(data, size);
	return 0;
}
