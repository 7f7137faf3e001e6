/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles of MPI programs for the tests of `lwkctl mpi`. */
#ifndef PROFILES_H
#define PROFILES_H

#include "lwkctl/mpi/profile.h"
#include "unit/unit.h"

/* Four ranks in a ring 0-2-1-3: 10 blocking messages of 1000 bytes to each neighbour. */
static const char ring[] =
	"{\"version\":1,\"job\":\"5.0\",\"ranks\":4,\"parts\":[\n"
	"{\"rank\":0,\"seconds\":2,\"mpi_seconds\":1,\"calls\":[[\"Send\",20,0.5]],"
	"\"groups\":[{\"id\":\"a\",\"size\":4,\"first\":0,\"stride\":1}],"
	"\"collectives\":[[\"Allreduce\",0,1,5,40,0.1]],"
	"\"sent\":[[2,3,4,4000,4],[2,2,6,6000,6],[3,3,10,10000,10]]},\n"
	"{\"rank\":1,\"seconds\":3,\"calls\":[[\"Send\",20,0.75]],\"sent\":[[2,3,10,10000,10],"
	"[3,3,10,10000,10],[-1,0,3,0,0]],\"fetched\":[[0,1,1,64,0]]},\n"
	"{\"rank\":2,\"sent\":[[0,3,10,10000,10],[1,3,10,10000,10]]},\n"
	"{\"rank\":3,\"sent\":[[0,3,10,10000,10],[1,3,10,10000,10]]}]}";

static inline void parse(struct profile *profile, const char *text)
{
	struct ms_error err;

	if (profile_parse(text, strlen(text), "test", profile, &err) < 0)
		fail_msg("%s", err.text);
}

#endif
