/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of a search that can fail. The numbers are those of the public interface, such as
 * ms_job_get() has.
 */
#ifndef FOUND_H
#define FOUND_H

enum found {
	FOUND_ERROR = -1, /* the search failed */
	FOUND_NONE = 0,
	FOUND = 1,
};

#endif
