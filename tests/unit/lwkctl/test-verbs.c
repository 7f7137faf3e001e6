// SPDX-License-Identifier: GPL-2.0-or-later
/* The completion and the man pages name the verbs and options that lwkctl has. */
#include "unit/unit.h"

#include "base/child.h"
#include "base/clock.h"
#include "lwkctl/verb.h"

static char *read_all(FILE *file)
{
	char *text = NULL;
	size_t size = 0;

	assert_non_null(file);
	if (getdelim(&text, &size, '\0', file) < 0)
		fail_msg("expected a text, found nothing");
	return text;
}

/*
 * The words that bash offers after "lwkctl VERB", each between newlines; valid until the next call.
 */
static const char *complete(const char *verb)
{
	/* The dot keeps the newline before it: child_run() takes off those at the end. */
	static const char script[] =
		"export PATH=\"$1:$PATH\"; source \"$2/contrib/completion/lwkctl\"; "
		"COMP_WORDS=(lwkctl $3 ''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
		"_lwkctl; printf '\\n%s\\n' \"${COMPREPLY[@]}\"; printf .";
	const char *const argv[] = { "/bin/bash",  "-c",       script, "bash",
				     TOP_BUILDDIR, TOP_SRCDIR, verb,   NULL };
	static char words[8192];

	assert_int_equal(child_run(argv, clock_ms() + 60000, words, sizeof(words)), 0);
	return words;
}

/* Words offered after "srun WORDS", in the same form. Slurm's own completion, here a fake, offers --ntasks. */
static const char *complete_srun(const char *srun_words)
{
	static const char script[] =
		"_completion_loader() { own() { COMPREPLY=(--ntasks); }; complete -F own srun sbatch; }; "
		"source \"$1/contrib/completion/slurm-lwk\"; "
		"COMP_WORDS=(srun $2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
		"_slurm_lwk srun; _slurm_lwk srun; printf '\\n%s\\n' \"${COMPREPLY[@]}\"; "
		"complete -p srun sbatch; printf .";
	const char *const argv[] = {
		"/bin/bash", "-c", script, "bash", TOP_SRCDIR, srun_words, NULL
	};
	static char words[8192];

	assert_int_equal(child_run(argv, clock_ms() + 60000, words, sizeof(words)), 0);
	return words;
}

static char *read_source(const char *name)
{
	char path[1024];
	FILE *file;
	char *text;

	snprintf(path, sizeof(path), "%s/%s", TOP_SRCDIR, name);
	file = fopen(path, "r");
	text = read_all(file);
	fclose(file);
	return text;
}

static void expect_in_page(const char *page, const char *verb, const char *text)
{
	if (!strstr(page, text))
		fail_msg("the man page of %s: expected \"%s\", found it nowhere; add it", verb,
			 text);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	while ((text = strstr(text, part))) {
		n++;
		text += strlen(part);
	}
	return n;
}

static void completion(void **state)
{
	const char *offered = complete("");
	char line[64];

	for (size_t i = 0; i < n_verbs; i++) {
		snprintf(line, sizeof(line), "\n%s\n", verbs[i]->name);
		assert_has(offered, line);
	}
	/* Two newlines a word; --help and --version are no verbs. */
	assert_int_equal(count(offered, "\n"), 2 * (n_verbs + 2));
	for (size_t i = 0; i < n_verbs; i++) {
		const struct argp_option *option = verbs[i]->options;
		size_t n = 1; /* --help */

		offered = complete(verbs[i]->name);
		for (; option && option->name; option++, n++) {
			snprintf(line, sizeof(line), "\n--%s\n", option->name);
			assert_has(offered, line);
		}
		assert_int_equal(count(offered, "\n--"), n);
	}
}

static void completion_of_srun(void **state)
{
	char *source = read_source("spank/options.c"), line[64], name[48];
	const char *offered = complete_srun("--");
	size_t n = 1; /* --ntasks */

	assert_has(offered, "\n--ntasks\n");
	for (const char *at = source; (at = strstr(at, ".name = \"")); at++, n++) {
		assert_int_equal(sscanf(at, ".name = \"%47[a-z-]", name), 1);
		snprintf(line, sizeof(line), "\n--%s\n", name);
		assert_has(offered, line);
	}
	assert_int_equal(count(offered, "\n--"), n);
	/* Slurm's completion has not replaced ours. */
	assert_has(offered, "-F _slurm_lwk srun");
	assert_has(offered, "-F _slurm_lwk sbatch");
	assert_has(complete_srun("--lwk-launch = n"), "\nnone\ncomplete");
	free(source);
}

static void man_pages(void **state)
{
	char *page = read_source("doc/lwkctl.8"), *migrate = read_source("doc/lwkctl-migrate.8");

	for (size_t i = 0; i < n_verbs; i++) {
		const struct argp_option *option = verbs[i]->options;
		const char *options = verbs[i] == &verb_migrate ? migrate : page;
		char text[64];

		snprintf(text, sizeof(text), "Cm %s", verbs[i]->name);
		expect_in_page(page, verbs[i]->name, text);
		for (; option && option->name; option++) {
			snprintf(text, sizeof(text), "Fl -%s", option->name);
			expect_in_page(options, verbs[i]->name, text);
		}
	}
	free(page);
	free(migrate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(completion),
		cmocka_unit_test(completion_of_srun),
		cmocka_unit_test(man_pages),
	};

	return cmocka_run_group_tests(tests, unit_setup, unit_teardown);
}
