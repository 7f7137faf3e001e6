// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fuzzer reads the options of `lwkctl migrate`, and the files of /proc in which it looks for
 * processes.
 */
#include <setjmp.h>
#include <stdlib.h>

/* An argument that is refused ends the program; here it ends the input. */
static jmp_buf refused;
#define exit(status) longjmp(refused, 1)
#define usage_error refuse_silently
#include "lwkctl/migrate/migrate.c"
#undef exit
#include "migrate/find/targets.c"
#include "migrate/request.c"

#include "fuzz.h"
#include "library/files.h"

int refuse_silently(const char *wanted, const char *found)
{
	must(*wanted && found);
	return EXIT_USAGE;
}

static void read_process(struct input *input)
{
	struct migration migration = { 0 };
	struct ms_error err;
	struct search search = { .migration = &migration, .err = &err };
	struct status status;
	char path[128];

	files_put("proc/1/stat", input->at, input->left);
	if (read_status(1, &status) == 0)
		must(status.pid == 1 && !status.chosen);
	snprintf(path, sizeof(path), "%s/proc/1/stat", files_directory());
	add_listed(&search, path);
	targets_free(&migration);
}

static void ask(struct input *input)
{
	const int n = OPTION_MEMORY - OPTION_PID + 1;
	/* In the static memory that a longjmp() leaves alone. */
	static char *texts[8];
	static size_t n_texts;
	struct ms_error err;

	if (setjmp(refused) == 0) {
		while (input->left && n_texts < 8) {
			int key = OPTION_PID + take_byte(input) % n;

			texts[n_texts] = strdup(take_text(input));
			parse(key, texts[n_texts++], NULL);
		}
		given.request.from = given.from;
		given.request.to = given.to;
		if (check_together() == EXIT_OK && !given.calibrate) {
			struct migration migration = { .request = &given.request };

			if (request_check(&migration, &err) == 0 &&
			    request_choose_settings(&migration, &given.request, &err) == 0) {
				must(migration.n_to && migration.n >= MS_MIGRATE_MIN_PAGES);
				must(given.request.sleep_ms >= 0);
				request_use_window_ms(&given.request);
			}
			free(migration.to);
		}
	}
	hwloc_bitmap_free(given.from);
	hwloc_bitmap_free(given.to);
	memset(&given, 0, sizeof(given));
	given.request.method = MS_ADAPTIVE;
	given.request.sleep_ms = -1;
	while (n_texts)
		free(texts[--n_texts]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct input input = { data, size };

	if (!ready) {
		files_put("sys/devices/system/node/has_memory", "0-3\n", 4);
		ready = true;
	}
	if (take_byte(&input) & 1)
		read_process(&input);
	else
		ask(&input);
	return 0;
}
