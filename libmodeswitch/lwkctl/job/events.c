// SPDX-License-Identifier: GPL-2.0-or-later
/* lwkctl events: a line for each thing that happens to a job's LWK. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lwkctl/common.h"
#include "modeswitch/error.h"
#include "modeswitch/watch.h"

static void print_event(enum ms_event event, const struct ms_instance_info *info)
{
	char when[32];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	format_time(now.tv_sec * 1000000000LL, when, sizeof(when));
	printf("%s.%03ld %s", when, now.tv_nsec / 1000000, ms_event_word(event));
	if (event == MS_EVENT_STATE)
		printf(" %s", ms_instance_state_word(info->state));
	if (*info->message && event <= MS_EVENT_HANG)
		printf(": %s", info->message);
	putchar('\n');
	fflush(stdout);
}

static int follow_events(struct ms_watch *watch, struct pollfd *fds, struct ms_error *err)
{
	struct ms_instance_info info;

	if (ms_watch_info(watch, &info, err) < 0)
		return -1;
	print_event(MS_EVENT_STATE, &info);
	while (info.state != MS_INSTANCE_SHUTTING_DOWN && !ferror(stdout)) {
		if (poll(fds, MS_EVENTS, -1) < 0 && errno != EINTR)
			return ms_fail(err, "poll: %m");
		if (ms_watch_info(watch, &info, err) < 0)
			return -1;
		for (size_t i = 0; i < MS_EVENTS; i++) {
			uint64_t count;

			if (read(fds[i].fd, &count, sizeof(count)) == sizeof(count))
				print_event(i, &info);
		}
	}
	return 0;
}

static int run(const struct options *options)
{
	struct pollfd fds[MS_EVENTS] = { 0 };
	struct ms_watch *watch;
	struct ms_error err;
	uint32_t job_id;
	int ret = 0;
	size_t n = 0;

	if (!job_argument(options, &job_id))
		return EXIT_USAGE;
	if (ms_watch_open(job_id, &watch, &err) < 0)
		return fail(&err);
	while (ret == 0 && n < MS_EVENTS) {
		fds[n] =
			(struct pollfd){ .fd = ms_watch_eventfd(watch, n, &err), .events = POLLIN };
		if (fds[n].fd < 0)
			ret = -1;
		else
			n++;
	}
	if (ret == 0)
		ret = follow_events(watch, fds, &err);
	while (n-- > 0)
		close(fds[n].fd);
	ms_watch_close(watch);
	return ret < 0 ? fail(&err) : EXIT_OK;
}

const struct verb verb_events = {
	.name = "events",
	.summary = "Print a line whenever something happens to a job's LWK",
	.help = "Prints a line whenever something happens to the LWK of JOB, until the job ends.",
	.arguments = "JOB",
	.most_arguments = 1,
	.run = run,
};
