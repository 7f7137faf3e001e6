/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stub of libihk. Tests can make it fail as libraries and kernels do.
 */
#ifndef STUB_H
#define STUB_H

#include <stdbool.h>
#include <sys/types.h>

#include "driver/ihk/ihklib.h"

#define STUB_OS 4

/* This state outlives the processes that call the library, as that of IHK's modules does. */
struct stub {
	struct {
		int cpu, os; /* -1: reserved only */
	} cpus[64];
	struct {
		struct ihk_mem_chunk chunk;
		int os;
	} chunks[64];
	int n_cpus, n_chunks;
	int least; /* bytes of the smallest chunk, from ihk_reserve_mem_conf() */
	struct {
		bool exists, loaded, booted, ended, removable;
		int status;
		unsigned owner;
		int map_n, map_to;
		char kargs[256];
	} os[STUB_OS];
	/* Counts the calls that are wrong at their time: before boot, and after the end. */
	int status_asked_before_boot;
	int status_asked;
	int kmsg_read;
	bool status_hangs;   /* until this is false again */
	bool not_loaded;     /* there is no device */
	bool no_smp;	     /* there is one, but no module that could do anything */
	bool garbage;	     /* counts are nonsense */
	bool lies;	     /* reserves no CPU, and says it did */
	bool partial;	     /* reserves half of the memory, and fails */
	bool fragments;	     /* reserves memory in two chunks */
	bool dies;	     /* the caller is killed when memory is reserved */
	bool boot_hangs;     /* for ever */
	bool boot_oopses;    /* Linux kills the process that asks for it */
	bool boot_false;     /* says it runs, but its status is BOOTING */
	int boot_late;	     /* gives up, and runs when the status has been asked so often */
	bool shutdown_hangs; /* for ever */
	pid_t proxy;	     /* while this process lives, shutdown hangs, too */
	bool release_fails;  /* refuses to give memory back */
	bool freeze_lies;    /* says it froze what goes on */
	bool is_ihk;	     /* removing what nothing has booted is Linux's end */
};

extern struct stub *stub;

#endif
