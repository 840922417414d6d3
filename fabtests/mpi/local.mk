# MPI programs are C, compiled by the MPI's own wrapper, and run by
# fabtests/mpi/run. "make mpi-programs" needs an MPI; nothing else does.

mpi_programs = \
	fabtests/mpi/bin/accumulate \
	fabtests/mpi/bin/allreduce \
	fabtests/mpi/bin/alltoall \
	fabtests/mpi/bin/compute \
	fabtests/mpi/bin/flood \
	fabtests/mpi/bin/latency \
	fabtests/mpi/bin/pingpong \
	fabtests/mpi/bin/probe \
	fabtests/mpi/bin/put \
	fabtests/mpi/bin/ring \
	fabtests/mpi/bin/rounds \
	fabtests/mpi/bin/self \
	fabtests/mpi/bin/sizes \
	fabtests/mpi/bin/threads \
	fabtests/mpi/bin/window_threads

mpi_common = fabtests/mpi/common.c fabtests/mpi/common.h

mpi-programs: $(mpi_programs)

$(mpi_programs): fabtests/mpi/bin/%: fabtests/mpi/%.c $(mpi_common)
	@test -n '$(MPICC)' || { \
	  echo 'configure found no mpicc; apt-get install libopenmpi-dev, then configure again' >&2; \
	  exit 1; }
	@$(MKDIR_P) fabtests/mpi/bin
	$(AM_V_CC)$(MPICC) -std=c11 -D_GNU_SOURCE $(WARN_FLAGS) $(CFLAGS) -pthread \
	  -o $@ $(filter %.c,$^)

CLEANFILES += $(mpi_programs)
EXTRA_DIST += fabtests/mpi/run $(mpi_common) \
	fabtests/mpi/accumulate.c fabtests/mpi/allreduce.c fabtests/mpi/alltoall.c \
	fabtests/mpi/compute.c fabtests/mpi/flood.c fabtests/mpi/latency.c \
	fabtests/mpi/pingpong.c fabtests/mpi/probe.c fabtests/mpi/put.c \
	fabtests/mpi/ring.c fabtests/mpi/rounds.c fabtests/mpi/self.c fabtests/mpi/sizes.c \
	fabtests/mpi/threads.c fabtests/mpi/window_threads.c
