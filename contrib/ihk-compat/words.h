/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists as IHK's tools write them, read and printed for ihkconfig and ihkosctl. */
#ifndef WORDS_H
#define WORDS_H

#include "driver/ihk/ihklib.h"

#define MAX_ITEMS 1024

/* The functions that read end the program with a message when the text has another form. */
int read_number(const char *text);
/* "1-3,5" */
int read_cpus(const char *text, int cpus[MAX_ITEMS]);
/* "512M@0,1G@1"; "all", "all@1" */
int read_memory(const char *text, struct ihk_mem_chunk chunks[MAX_ITEMS]);
/* "1,2:0+3:4": CPUs 1 and 2 of the LWK, to CPU 0 of Linux */
int read_map(const char *text, struct ihk_ikc_cpu_map map[MAX_ITEMS]);

void print_cpus(const int *cpus, int n);
void print_memory(const struct ihk_mem_chunk *chunks, int n);

/* Prints an error if libihk's result is one; 'what' was not done. Returns the exit status. */
int told(const char *what, int result);

#endif
