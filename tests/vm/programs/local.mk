# SPDX-License-Identifier: GPL-2.0-or-later
# The programs that the tests run on the LWK, in folders by what they try: "jobs" has those that only work, and
# "packages" what packages of the distribution are run with. A test finds all of them in one directory of the
# machine, so each name is there once.
vm = tests/vm/programs
vm_flags = -O2 -Wall -Wextra $(WERROR_CFLAGS) -I$(top_srcdir)/kmod -I$(top_srcdir)/$(vm)
vm_cc = $(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 $(vm_flags)

# These programs are linked as users link theirs. Before glibc 2.34 threads, timers and the dynamic linker were
# libraries of their own.
vm_static = \
	$(vm)/calls/bad-pointers \
	$(vm)/calls/clocks \
	$(vm)/calls/cpu-times \
	$(vm)/calls/descriptor-calls \
	$(vm)/calls/every-call \
	$(vm)/calls/file-calls \
	$(vm)/calls/identity-calls \
	$(vm)/calls/set-quota \
	$(vm)/calls/with-seccomp \
	$(vm)/children/across \
	$(vm)/children/fork-limits \
	$(vm)/children/start-programs \
	$(vm)/children/processes \
	$(vm)/hostile/attack-kernel \
	$(vm)/hostile/bad-frames \
	$(vm)/hostile/foreign-addresses \
	$(vm)/hostile/foreign-delegated \
	$(vm)/hostile/lock-own-map \
	$(vm)/hostile/set-ac \
	$(vm)/jobs/bad-pointer \
	$(vm)/jobs/copy-file \
	$(vm)/jobs/eat-memory \
	$(vm)/jobs/exit-with \
	$(vm)/jobs/fill-file \
	$(vm)/jobs/hammer \
	$(vm)/jobs/hello \
	$(vm)/jobs/hold-memory \
	$(vm)/jobs/keep-memory \
	$(vm)/jobs/list-directory \
	$(vm)/jobs/sleeper \
	$(vm)/jobs/on-signals \
	$(vm)/jobs/rounds \
	$(vm)/jobs/secret \
	$(vm)/jobs/seldom \
	$(vm)/jobs/spin \
	$(vm)/jobs/upper-case \
	$(vm)/memory/many-mappings \
	$(vm)/memory/memory-advice \
	$(vm)/memory/memory-calls \
	$(vm)/memory/pin-memory \
	$(vm)/memory/pin-shared \
	$(vm)/memory/policies \
	$(vm)/memory/share-file \
	$(vm)/memory/shared-memory \
	$(vm)/proxies/early-threads \
	$(vm)/proxies/ended-borrower \
	$(vm)/proxies/ended-waiter \
	$(vm)/proxies/escape \
	$(vm)/proxies/evil-proxy \
	$(vm)/proxies/find-addresses \
	$(vm)/proxies/keep-device \
	$(vm)/proxies/kept-window \
	$(vm)/proxies/mute-files \
	$(vm)/proxies/mute-listener \
	$(vm)/proxies/mute-memory \
	$(vm)/proxies/wait-fault \
	$(vm)/proxies/without-grants \
	$(vm)/signals/cpu-faults \
	$(vm)/signals/killed-by \
	$(vm)/signals/killed-populating \
	$(vm)/signals/killed-waiters \
	$(vm)/signals/signal-calls \
	$(vm)/signals/waits \
	$(vm)/threads/undisturbed \
	$(vm)/threads/wait-in-linux \
	$(vm)/views/own-status
$(vm_static): %: $(srcdir)/%.c
	$(vm_cc) -pthread -static $< -o $@ -lrt
$(vm)/proxies/early-threads $(vm)/proxies/ended-borrower $(vm)/proxies/ended-waiter \
	$(vm)/proxies/evil-proxy $(vm)/proxies/find-addresses $(vm)/proxies/keep-device $(vm)/proxies/kept-window $(vm)/proxies/mute-memory \
	$(vm)/proxies/wait-fault $(vm)/proxies/without-grants: $(abi_headers)
$(vm)/proxies/early-threads $(vm)/proxies/ended-borrower $(vm)/proxies/ended-waiter \
	$(vm)/proxies/evil-proxy $(vm)/proxies/kept-window: $(srcdir)/$(vm)/proxies/own-proxy.h

# Programs that are linked as the distribution's compilers link by default.
vm_default = \
	$(vm)/signals/late-waits \
	$(vm)/signals/signal-info \
	$(vm)/threads/affinity \
	$(vm)/threads/mutexes \
	$(vm)/threads/spin-threads \
	$(vm)/threads/thread-calls \
	$(vm)/threads/turns
$(vm_default): %: $(srcdir)/%.c
	$(vm_cc) -pthread $< -o $@ -lrt
vm_default_math = \
	$(vm)/benchmarks/nas-like \
	$(vm)/benchmarks/nas-lu \
	$(vm)/benchmarks/ping-pong \
	$(vm)/benchmarks/stream \
	$(vm)/threads/share-cpu \
	$(vm)/views/own-maps
$(vm_default_math): %: $(srcdir)/%.c
	$(vm_cc) -pthread $< -o $@ -lm

# Programs that are linked in ways of their own.
vm_others = \
	$(vm)/hostile/fuzz-calls \
	$(vm)/hostile/fuzz-devices \
	$(vm)/hostile/fuzz-grants \
	$(vm)/languages/load-library \
	$(vm)/languages/openmp \
	$(vm)/languages/openmp-places \
	$(vm)/languages/profiled \
	$(vm)/memory/memory-calls-dynamic \
	$(vm)/memory/memory-calls-no-pie \
	$(vm)/memory/memory-calls-pie \
	$(vm)/memory/static-memory \
	$(vm)/signals/dump-core \
	$(vm)/signals/dump-core-static \
	$(vm)/threads/mutexes-static \
	$(vm)/threads/thread-calls-static \
	$(vm)/views/topology
# A random call's result tells nothing.
$(vm)/hostile/fuzz-calls $(vm)/hostile/fuzz-devices: %: $(srcdir)/%.c $(abi_headers) $(srcdir)/$(vm)/hostile/fuzz.h
	$(vm_cc) -Wno-unused-result -pthread -static $< -o $@
# Code of this program is copied to other addresses.
$(vm)/hostile/fuzz-grants: $(srcdir)/$(vm)/hostile/fuzz-grants.c $(abi_headers) $(srcdir)/$(vm)/hostile/fuzz.h
	$(vm_cc) -Wno-unused-result -fno-jump-tables -fno-stack-protector -pthread -static $< -o $@
$(vm)/languages/load-library: $(srcdir)/$(vm)/languages/load-library.c
	$(vm_cc) $< -o $@ -ldl
$(vm)/languages/openmp $(vm)/languages/openmp-places: %: $(srcdir)/%.c
	$(vm_cc) -fopenmp -static $< -o $@
$(vm)/languages/profiled: $(srcdir)/$(vm)/languages/profiled.c
	$(vm_cc) -pg -static $< -o $@
$(vm)/memory/memory-calls-dynamic: $(srcdir)/$(vm)/memory/memory-calls.c
	$(vm_cc) $< -o $@
$(vm)/memory/memory-calls-no-pie: $(srcdir)/$(vm)/memory/memory-calls.c
	$(vm_cc) -no-pie $< -o $@
$(vm)/memory/memory-calls-pie: $(srcdir)/$(vm)/memory/memory-calls.c
	$(vm_cc) -static-pie $< -o $@
$(vm)/memory/static-memory: $(srcdir)/$(vm)/memory/static-memory.c
	$(vm_cc) -z execstack $< -o $@
$(vm)/signals/dump-core: $(srcdir)/$(vm)/signals/dump-core.c
	$(vm_cc) -g -pthread $< -o $@
$(vm)/signals/dump-core-static: $(srcdir)/$(vm)/signals/dump-core.c
	$(vm_cc) -g -pthread -static $< -o $@
$(vm)/threads/mutexes-static: $(srcdir)/$(vm)/threads/mutexes.c
	$(vm_cc) -pthread -static $< -o $@
$(vm)/threads/thread-calls-static: $(srcdir)/$(vm)/threads/thread-calls.c
	$(vm_cc) -pthread -static $< -o $@
$(vm)/views/topology: $(srcdir)/$(vm)/views/topology.c
	$(vm_cc) $(HWLOC_CFLAGS) $< $(HWLOC_LIBS) -o $@

if HAVE_CXX_AND_FC
vm_others += $(vm)/languages/exceptions $(vm)/languages/exceptions-static
vm_fortran = $(vm)/languages/fortran-io $(vm)/benchmarks/himeno
# The machines have no libraries for Fortran; C's are shared.
$(vm_fortran): %: $(srcdir)/%.f90
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
		$(LWK_FC) $(vm_flags) -c $< -o $@.o && \
		$(CC) $@.o -Wl,-Bstatic -lgfortran -lquadmath -Wl,-Bdynamic -lm -o $@ && rm $@.o
endif
$(vm)/languages/exceptions: $(srcdir)/$(vm)/languages/exceptions.cc
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LWK_CXX) $(vm_flags) $< -o $@
$(vm)/languages/exceptions-static: $(srcdir)/$(vm)/languages/exceptions.cc
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(LWK_CXX) $(vm_flags) -pthread -static $< -o $@

if HAVE_MPICH
vm_mpi = $(vm)/mpi/mpi-calls $(vm)/mpi/mpi-collectives $(vm)/mpi/mpi-delegated $(vm)/mpi/mpi-pairs
$(vm_mpi): %: $(srcdir)/%.c
	$(vm_cc) -pthread $(MPICH_CFLAGS) $< -lmpich -o $@
endif

if HAVE_OPENBLAS
vm_others += $(vm)/benchmarks/dgemm
endif
$(vm)/benchmarks/dgemm: $(srcdir)/$(vm)/benchmarks/dgemm.c
	$(vm_cc) $(OPENBLAS_CFLAGS) $< $(OPENBLAS_LIBS) -lm -o $@

if HAVE_SANITIZERS
vm_others += $(vm)/languages/sanitized-address $(vm)/languages/sanitized-threads
endif
$(vm)/languages/sanitized-address: $(srcdir)/$(vm)/languages/sanitized.c
	$(vm_cc) -g -fsanitize=address -static-libasan -pthread $< -o $@
$(vm)/languages/sanitized-threads: $(srcdir)/$(vm)/languages/sanitized.c
	$(vm_cc) -g -fsanitize=thread -static-libtsan -pthread $< -o $@

# A plugin of Slurm, which a user puts in the place of the project's.
if HAVE_SLURM
vm_others += $(vm)/hostile/forge.so
endif
$(vm)/hostile/forge.so: $(srcdir)/$(vm)/hostile/forge.c
	$(vm_cc) -shared -fPIC $< -o $@

vm_programs = $(vm_static) $(vm_default) $(vm_default_math) $(vm_others) $(vm_fortran) $(vm_mpi)
all-local: $(vm_programs)
CLEANFILES += $(vm_programs)
