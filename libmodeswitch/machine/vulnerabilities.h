/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs' vulnerabilities, and what the bundled LWK does about them. */
#ifndef VULNERABILITIES_H
#define VULNERABILITIES_H

#include <stddef.h>

/*
 * Writes to 'names' the vulnerabilities that Linux mitigates and about which this release does not
 * say what the LWK must do: "name (Mitigation: what Linux does), ...". Returns how many there are;
 * -1: Linux does not tell.
 */
int vulnerabilities_open(char *names, size_t size);

#endif
