# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests run on the LWK: ordinary programs, linked as its users link theirs.
vm_programs = \
	tests/vm/programs/bad \
	tests/vm/programs/bad-pointer \
	tests/vm/programs/bad-pointers \
	tests/vm/programs/copy-file \
	tests/vm/programs/eat-memory \
	tests/vm/programs/escape \
	tests/vm/programs/evil-proxy \
	tests/vm/programs/exit-with \
	tests/vm/programs/file-calls \
	tests/vm/programs/fill-file \
	tests/vm/programs/hammer \
	tests/vm/programs/hello \
	tests/vm/programs/hold \
	tests/vm/programs/list-directory \
	tests/vm/programs/memory-calls \
	tests/vm/programs/nap \
	tests/vm/programs/on-signals \
	tests/vm/programs/own-status \
	tests/vm/programs/pin-memory \
	tests/vm/programs/rounds \
	tests/vm/programs/secret \
	tests/vm/programs/signal-calls \
	tests/vm/programs/spin \
	tests/vm/programs/undisturbed \
	tests/vm/programs/upper-case \
	tests/vm/programs/with-seccomp

all-local: $(vm_programs)
$(vm_programs): %: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -static $< -o $@

all-local: tests/vm/programs/memory-calls-pie
tests/vm/programs/memory-calls-pie: $(srcdir)/tests/vm/programs/memory-calls.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -static-pie $< -o $@

EXTRA_DIST += $(vm_programs:=.c) tests/vm/programs/check.h
CLEANFILES += $(vm_programs) tests/vm/programs/memory-calls-pie
