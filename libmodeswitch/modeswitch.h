/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libmodeswitch: switches a job's share of a node between Linux-only mode and LWK mode. This header
 * includes all of the library's public interface; each topic has a header of its own.
 *
 * Conventions. A call that can fail takes 'err', which may not be NULL, and returns 0, or -1 with a
 * text in *err that says what was expected, what was found and what to do. Sizes are in bytes; CPU
 * and node numbers are Linux's. The comment of a call that hands out memory names the call that
 * frees it; all else stays with its owner. No call uses a shell, and no call trusts the
 * environment.
 */
#ifndef MODESWITCH_H
#define MODESWITCH_H

#include <modeswitch/config.h>
#include <modeswitch/counters.h>
#include <modeswitch/error.h>
#include <modeswitch/interrupts.h>
#include <modeswitch/job.h>
#include <modeswitch/limits.h>
#include <modeswitch/migrate.h>
#include <modeswitch/node.h>
#include <modeswitch/plan.h>
#include <modeswitch/watch.h>

#endif
