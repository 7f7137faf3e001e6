// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the ioctls of /dev/lwk/N: GET_USAGE, KMSG, FREEZE, COUNTERS, EVENTFD, GET_DETAILS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "abi.h"

static void test_bad_watching(int fd)
{
	struct lwk_usage usage = { .capacity = 1 << 20 };
	struct lwkpart_kmsg kmsg = { .instance = 1 };
	struct lwk_freeze freeze = { .frozen = 2, .timeout_ms = 1 };

	check_result(call_instance(fd, LWK_GET_USAGE, &usage), ENODATA, "GET_USAGE of nothing");
	usage.capacity = 0;
	check_result(call_instance(fd, LWK_GET_USAGE, &usage), ENOSPC, "GET_USAGE without room");
	check(usage.length == LWK_STATUS_BYTES(0), "it tells how much it needs");
	usage.reserved[1] = 1;
	check_result(call_instance(fd, LWK_GET_USAGE, &usage), EINVAL,
		     "GET_USAGE with a reserved field");
	check_result(call_instance(fd, LWK_KMSG, &kmsg), EINVAL, "KMSG of another instance");
	kmsg.instance = 0;
	check_result(call_instance(fd, LWK_KMSG, &kmsg), 0, "KMSG of an instance without console");
	check(kmsg.length == 0, "it has no text");
	check_result(call_instance(fd, LWK_FREEZE, &freeze), EINVAL, "FREEZE to state 2");
	freeze = (struct lwk_freeze){ .frozen = 1 };
	check_result(call_instance(fd, LWK_FREEZE, &freeze), EINVAL, "FREEZE without a time-out");
	freeze.timeout_ms = 60001;
	check_result(call_instance(fd, LWK_FREEZE, &freeze), EINVAL, "FREEZE for too long");
	freeze.timeout_ms = 1;
	check_result(call_instance(fd, LWK_FREEZE, &freeze), EHOSTDOWN,
		     "FREEZE of an instance that does not run");
}

static void test_bad_counters(int fd)
{
	static const struct {
		const char *what;
		struct lwk_counters request;
	} bad[] = {
		{ "COUNTERS without a command", { .command = 4 } },
		{ "COUNTERS: more than there can be",
		  { .command = LWK_COUNTERS_SET, .count = 17 } },
		{ "COUNTERS: -1 of them", { .command = LWK_COUNTERS_SET, .count = -1U } },
		{ "COUNTERS of no kind",
		  { .command = LWK_COUNTERS_SET, .count = 1, .counters = { { .kind = 3 } } } },
		{ "COUNTERS of what is not counted",
		  { .command = LWK_COUNTERS_SET,
		    .count = 1,
		    .counters = { { .number = LWK_COUNTS } } } },
		{ "COUNTERS with a reserved field",
		  { .command = LWK_COUNTERS_SET, .count = 1, .counters = { { .reserved = 1 } } } },
		{ "COUNTERS that shall interrupt",
		  { .command = LWK_COUNTERS_SET,
		    .count = 1,
		    .counters = { { .kind = LWK_COUNTER_GENERAL, .select = 1 << 20 } } } },
		{ "COUNTERS, of which the last is bad",
		  { .command = LWK_COUNTERS_SET,
		    .count = 2,
		    .counters = { { 0 }, { .kind = LWK_COUNTER_FIXED, .number = 32 } } } },
	};
	struct lwk_counters request;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		request = bad[i].request;
		check_result(call_instance(fd, LWK_COUNTERS, &request), EINVAL, bad[i].what);
	}
	request = (struct lwk_counters){ .command = LWK_COUNTERS_SET, .count = 1 };
	check_result(call_instance(fd, LWK_COUNTERS, &request), EHOSTDOWN,
		     "COUNTERS of an instance that does not run");
	request = (struct lwk_counters){ .count = 5 };
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS to be got");
	check(!request.count && !request.running && !request.order, "there are none");
}

static int listen_anew(int fd)
{
	struct lwk_eventfd request = { .fd = eventfd(0, 0), .event = LWK_EVENT_PANIC };
	int error = call_instance(fd, LWK_EVENTFD, &request);

	close(request.fd);
	return error;
}

static void test_eventfds(int fd, __u32 instance)
{
	struct lwk_instance_details details;
	struct lwk_eventfd request = { .fd = -1 };
	unsigned int i;
	__u64 count = 0;

	check_result(call_instance(fd, LWK_EVENTFD, &request), EBADF, "EVENTFD of no file");
	request.fd = fd;
	check_result(call_instance(fd, LWK_EVENTFD, &request), EINVAL, "EVENTFD of another file");
	request.fd = eventfd(0, EFD_NONBLOCK);
	request.event = LWK_EVENTS;
	check_result(call_instance(fd, LWK_EVENTFD, &request), EINVAL, "EVENTFD of no event");
	request.event = LWK_EVENT_STATE;
	check_result(call_instance(fd, LWK_EVENTFD, &request), 0, "EVENTFD");
	check_result(call_instance(fd, LWK_EVENTFD, &request), EEXIST, "EVENTFD again");
	for (i = 1; i < LWK_MAX_EVENTFDS && !listen_anew(fd); i++)
		;
	check(i == LWK_MAX_EVENTFDS, "EVENTFD, %u times", i);
	check_result(listen_anew(fd), ENOSPC, "EVENTFD once more");
	check(read(request.fd, &count, sizeof(count)) < 0, "nothing has happened yet");
	shut_down(instance);
	check(read(request.fd, &count, sizeof(count)) == sizeof(count) && count == 1,
	      "a new state is one event");
	check_result(call_instance(fd, LWK_GET_DETAILS, &details), 0, "GET_DETAILS");
	check(details.state == LWK_STATE_SHUTDOWN && details.job_id == JOB && details.since_ns > 0,
	      "it tells state, job and since when");
	check_result(destroy(instance), 0, "DESTROY while it is watched");
	check_result(call_instance(fd, LWK_GET_DETAILS, &details), 0, "GET_DETAILS afterwards");
	check_result(call_instance(fd, LWK_EVENTFD, &request), EHOSTDOWN, "EVENTFD afterwards");
	close(request.fd);
}

void test_watching(void)
{
	char path[32];
	__u32 instance;
	int fd;

	check_result(create(&instance), 0, "CREATE");
	snprintf(path, sizeof(path), LWK_DEVICE_DIR "/%u", instance);
	fd = open(path, O_RDWR);
	if (!check(fd >= 0, "%s can be opened", path))
		return;
	test_bad_watching(fd);
	test_bad_counters(fd);
	test_eventfds(fd, instance);
	close(fd);
}

/* The LWK accepts counters that its hardware does not have, and goes on. */
void test_counters(__u32 instance)
{
	static const struct lwk_counter wild[] = {
		{ LWK_COUNTER_GENERAL, 31, LWK_SELECT_ALL, 0 },
		{ LWK_COUNTER_FIXED, 31, LWK_SELECT_ALL, 0 },
		{ LWK_COUNTER_GENERAL, 0, LWK_SELECT_ALL, 0 },
		{ LWK_COUNTER_GENERAL, 0, 0, 0 },
		{ LWK_COUNTER_SOFTWARE, LWK_COUNT_PROCESSES, 0, 0 },
	};
	struct lwk_counters request = { .command = LWK_COUNTERS_SET, .count = ARRAY_SIZE(wild) };
	char path[32];
	__u32 order;
	int fd;

	snprintf(path, sizeof(path), LWK_DEVICE_DIR "/%u", instance);
	fd = open(path, O_RDWR);
	memcpy(request.counters, wild, sizeof(wild));
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS of no hardware");
	order = request.order;
	check(!request.running && request.count == ARRAY_SIZE(wild), "they are set");
	request.command = LWK_COUNTERS_START;
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS to start");
	check(request.running && request.order != order, "they run");
	request = (struct lwk_counters){ .command = LWK_COUNTERS_STOP };
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS to stop");
	check(!request.running && request.count == ARRAY_SIZE(wild) &&
		      !memcmp(request.counters, wild, sizeof(wild)),
	      "they stand still, and are those that were set");
	request = (struct lwk_counters){ .command = LWK_COUNTERS_SET };
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS to be removed");
	check(!request.count && has_state(instance, LWK_STATE_RUNNING), "the LWK goes on");
	/* Counters that are set until the end of the instance. */
	request = (struct lwk_counters){ .command = LWK_COUNTERS_SET, .count = 1 };
	request.counters[0] = wild[2];
	check_result(call_instance(fd, LWK_COUNTERS, &request), 0, "COUNTERS that are left");
	close(fd);
}
