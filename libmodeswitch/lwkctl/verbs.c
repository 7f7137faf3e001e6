// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwkctl/verb.h"

const struct verb *const verbs[] = {
	&verb_status, &verb_plan,    &verb_setup, &verb_check,	&verb_prepare, &verb_node,
	&verb_list,   &verb_info,    &verb_stat,  &verb_top,	&verb_irqs,    &verb_counters,
	&verb_quiet,  &verb_metrics, &verb_kmsg,  &verb_events, &verb_freeze,  &verb_thaw,
	&verb_guard,  &verb_dump,    &verb_reset, &verb_cool,	&verb_rehome,  &verb_migrate,
	&verb_mpi,    &verb_bench,
};
const size_t n_verbs = sizeof(verbs) / sizeof(*verbs);
