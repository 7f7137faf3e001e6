# SPDX-License-Identifier: GPL-2.0-or-later
# The programs that the tests run on the LWK are ordinary ones, linked as users link theirs. Before
# glibc 2.34 threads, timers and the dynamic linker were libraries of their own.
vm_programs = \
	tests/vm/programs/across \
	tests/vm/programs/bad \
	tests/vm/programs/bad-frames \
	tests/vm/programs/bad-pointer \
	tests/vm/programs/bad-pointers \
	tests/vm/programs/clocks \
	tests/vm/programs/copy-file \
	tests/vm/programs/cpu-faults \
	tests/vm/programs/cpu-times \
	tests/vm/programs/eat-memory \
	tests/vm/programs/escape \
	tests/vm/programs/every-call \
	tests/vm/programs/evil-proxy \
	tests/vm/programs/exit-with \
	tests/vm/programs/file-calls \
	tests/vm/programs/fill-file \
	tests/vm/programs/fork-limits \
	tests/vm/programs/hammer \
	tests/vm/programs/hello \
	tests/vm/programs/hold \
	tests/vm/programs/keep-device \
	tests/vm/programs/keep-memory \
	tests/vm/programs/killed-by \
	tests/vm/programs/list-directory \
	tests/vm/programs/many-mappings \
	tests/vm/programs/memory-calls \
	tests/vm/programs/more-calls \
	tests/vm/programs/mute-files \
	tests/vm/programs/mute-listener \
	tests/vm/programs/nap \
	tests/vm/programs/on-signals \
	tests/vm/programs/other-programs \
	tests/vm/programs/own-status \
	tests/vm/programs/pin-memory \
	tests/vm/programs/pin-shared \
	tests/vm/programs/policies \
	tests/vm/programs/processes \
	tests/vm/programs/reach \
	tests/vm/programs/rounds \
	tests/vm/programs/secret \
	tests/vm/programs/set-quota \
	tests/vm/programs/share-file \
	tests/vm/programs/shared-memory \
	tests/vm/programs/signal-calls \
	tests/vm/programs/spin \
	tests/vm/programs/undisturbed \
	tests/vm/programs/upper-case \
	tests/vm/programs/wait-fault \
	tests/vm/programs/with-seccomp \
	tests/vm/programs/without-grants

all-local: $(vm_programs)
tests/vm/programs/evil-proxy tests/vm/programs/keep-device \
	tests/vm/programs/wait-fault tests/vm/programs/without-grants: $(abi_headers)
$(vm_programs): %: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra $(WERROR_CFLAGS) -pthread -static -I$(top_srcdir)/kmod $< -o $@ -lrt

all-local: tests/vm/programs/memory-calls-pie
tests/vm/programs/memory-calls-pie: $(srcdir)/tests/vm/programs/memory-calls.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra $(WERROR_CFLAGS) -static-pie $< -o $@

# Programs that are linked as the distribution's compilers link by default.
vm_default = fuzz-calls fuzz-devices own-maps nas-like nas-lu stream ping-pong memory-calls-dynamic \
	memory-calls-no-pie killed-populating killed-waiters load-library thread-calls thread-calls-static signal-info share-cpu spin-threads turns affinity \
	openmp profiled topology dump-core dump-core-static
if HAVE_CXX_AND_FC
vm_default += exceptions exceptions-static fortran-io himeno
endif
if HAVE_MPICH
vm_default += mpi-calls mpi-collectives mpi-delegated mpi-pairs
endif
if HAVE_OPENBLAS
vm_default += dgemm
endif
if HAVE_SANITIZERS
vm_default += sanitized-address sanitized-threads
endif
vm_default_programs = $(vm_default:%=tests/vm/programs/%)
vm_flags = -O2 -Wall -Wextra $(WERROR_CFLAGS)

all-local: $(vm_default_programs)
tests/vm/programs/memory-calls-dynamic: $(srcdir)/tests/vm/programs/memory-calls.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) $< -o $@
tests/vm/programs/memory-calls-no-pie: $(srcdir)/tests/vm/programs/memory-calls.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -no-pie $< -o $@
tests/vm/programs/sanitized-address: $(srcdir)/tests/vm/programs/sanitized.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -g -fsanitize=address -static-libasan -pthread $< -o $@
tests/vm/programs/sanitized-threads: $(srcdir)/tests/vm/programs/sanitized.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -g -fsanitize=thread -static-libtsan -pthread $< -o $@
tests/vm/programs/dump-core: $(srcdir)/tests/vm/programs/dump-core.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -g -pthread $< -o $@
tests/vm/programs/dump-core-static: $(srcdir)/tests/vm/programs/dump-core.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -g -pthread -static $< -o $@
tests/vm/programs/load-library: $(srcdir)/tests/vm/programs/load-library.c tests/vm/programs/openmp.c \
	tests/vm/programs/thread-calls.c tests/vm/programs/spin-threads.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) $< -o $@ -ldl
tests/vm/programs/killed-populating tests/vm/programs/killed-waiters: %: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pthread -static $< -o $@
tests/vm/programs/fuzz-calls tests/vm/programs/fuzz-devices: %: $(srcdir)/%.c $(abi_headers) \
	$(srcdir)/tests/vm/programs/fuzz.h
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -Wno-unused-result -pthread -static \
		-I$(top_srcdir)/kmod $< -o $@
tests/vm/programs/thread-calls: $(srcdir)/tests/vm/programs/thread-calls.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pthread $< -o $@
tests/vm/programs/thread-calls-static: $(srcdir)/tests/vm/programs/thread-calls.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pthread -static $< -o $@
tests/vm/programs/signal-info: $(srcdir)/tests/vm/programs/signal-info.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pthread $< -o $@ -lrt
tests/vm/programs/share-cpu: $(srcdir)/tests/vm/programs/share-cpu.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pthread $< -lm -o $@
tests/vm/programs/spin-threads tests/vm/programs/turns tests/vm/programs/affinity: %: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pthread $< -o $@
tests/vm/programs/topology: $(srcdir)/tests/vm/programs/topology.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) $(HWLOC_CFLAGS) $< $(HWLOC_LIBS) -o $@
tests/vm/programs/profiled: $(srcdir)/tests/vm/programs/profiled.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pg -static $< -o $@
tests/vm/programs/openmp: $(srcdir)/tests/vm/programs/openmp.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -fopenmp -static $< -o $@
tests/vm/programs/nas-like tests/vm/programs/nas-lu tests/vm/programs/own-maps \
tests/vm/programs/ping-pong tests/vm/programs/stream: \
	%: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pthread $< -lm -o $@
tests/vm/programs/dgemm: $(srcdir)/tests/vm/programs/dgemm.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) $(OPENBLAS_CFLAGS) $< $(OPENBLAS_LIBS) -lm -o $@
tests/vm/programs/mpi-calls tests/vm/programs/mpi-collectives tests/vm/programs/mpi-delegated tests/vm/programs/mpi-pairs: %: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -pthread $(MPICH_CFLAGS) $< -lmpich -o $@
tests/vm/programs/exceptions: $(srcdir)/tests/vm/programs/exceptions.cc
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LWK_CXX) $(vm_flags) $< -o $@
tests/vm/programs/exceptions-static: $(srcdir)/tests/vm/programs/exceptions.cc
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LWK_CXX) $(vm_flags) -pthread -static $< -o $@

# A plugin of Slurm, which a user puts in the place of the project's.
if HAVE_SLURM
vm_plugin = tests/vm/programs/forge.so
endif
all-local: $(vm_plugin)
tests/vm/programs/forge.so: $(srcdir)/tests/vm/programs/forge.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags) -shared -fPIC $< -o $@

# The machines have no libraries for Fortran; C's are shared.
tests/vm/programs/fortran-io tests/vm/programs/himeno: %: $(srcdir)/%.f90
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
		$(LWK_FC) $(vm_flags) -c $< -o $@.o && \
		$(CC) $@.o -Wl,-Bstatic -lgfortran -lquadmath -Wl,-Bdynamic -lm -o $@ && rm $@.o

CLEANFILES += $(vm_programs) tests/vm/programs/memory-calls-pie \
	tests/vm/programs/forge.so $(vm_default_programs)
