// SPDX-License-Identifier: GPL-2.0-or-later
/* A job's journal, as a crash or a full file system may have left it. */
#include "store/journal.h"

#include <string.h>

#include "fuzz.h"
#include "library/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal *journal;
	struct ms_error err;

	files_put("jobs/7.journal", data, size);
	if (journal_open(7, &journal, &err) != 1)
		return 0;
	must(strlen(journal->driver) < sizeof(journal->driver));
	for (size_t i = 0; i < json_object_array_length(journal->entries); i++) {
		struct json_object *entry = json_object_array_get_idx(journal->entries, i);

		must(*journal_text(entry, "step"));
		must(journal_text(entry, "cpus"));
		journal_number(entry, "instance");
	}
	journal_close(journal);
	return 0;
}
