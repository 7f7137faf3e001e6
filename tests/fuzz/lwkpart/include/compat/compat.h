/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel.h has the newest kernel's interface, so there is nothing to adapt. */
