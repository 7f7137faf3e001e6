// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests KMSG and DUMP of an LWK that runs.
 */
#include <errno.h>

#include "abi.h"

void test_kmsg(__u32 instance)
{
	char text[4096];
	struct lwkpart_kmsg request = { .instance = instance,
					.buffer = (unsigned long)text,
					.capacity = 1 };
	__u64 position;

	check(!call(LWKPART_KMSG, &request) && request.length == 1 && request.position == 1,
	      "KMSG gives one byte when asked for one");
	request.capacity = sizeof(text);
	check(!call(LWKPART_KMSG, &request) && request.length > 0 &&
		      request.position == 1 + request.length,
	      "KMSG goes on where it ended");
	position = request.position = -1UL;
	check(!call(LWKPART_KMSG, &request) && request.length == 0 && request.position < position,
	      "KMSG from beyond the end gives nothing");
	request.position = 0;
	request.buffer = 0;
	check_result(call(LWKPART_KMSG, &request), EFAULT, "KMSG to nowhere");
}

void test_dump(__u32 instance)
{
	static struct lwk_boot_params params;
	static char again[4096];
	struct lwkpart_dump_layout layout = { .instance = instance, .job_id = JOB };
	struct lwkpart_dump request = { .instance = instance,
					.job_id = JOB,
					.buffer = (unsigned long)&params,
					.size = sizeof(params) };
	bool inside = true;
	__u32 i;

	check_result(call(LWKPART_DUMP_LAYOUT, &layout), 0, "DUMP_LAYOUT");
	for (i = 0; i < layout.count; i++)
		inside &= layout.segments[i].address >= LWK_IMAGE_BASE &&
			  layout.segments[i].start >= layout.start &&
			  layout.segments[i].start + layout.segments[i].size <=
				  layout.start + layout.bytes;
	check(layout.count >= 2 && inside, "it tells the image's segments, in that memory");
	check(!call(LWKPART_DUMP, &request) && request.size == sizeof(params) &&
		      params.magic == LWK_SHARED_MAGIC && params.job_id == JOB &&
		      params.reserve_start == layout.start && layout.bytes <= params.reserve_size &&
		      layout.bytes > params.reserve_used,
	      "DUMP copies the beginning: its boot parameters, and what it uses is more");
	request.offset = layout.bytes - 512;
	request.size = sizeof(again);
	request.buffer = (unsigned long)again;
	check(!call(LWKPART_DUMP, &request) && request.size == 512, "DUMP ends at the end");
	request.offset = -1UL;
	request.size = 1;
	check(!call(LWKPART_DUMP, &request) && request.size == 0, "DUMP from beyond the end");
	request.offset = 0;
	request.size = 1;
	request.buffer = 0;
	check_result(call(LWKPART_DUMP, &request), EFAULT, "DUMP to nowhere");
	request.job_id = layout.job_id = JOB + 1;
	check_result(call(LWKPART_DUMP, &request), ENOENT, "DUMP for another job");
	check_result(call(LWKPART_DUMP_LAYOUT, &layout), ENOENT, "DUMP_LAYOUT for another job");
}
