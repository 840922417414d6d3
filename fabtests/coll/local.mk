# Persistent collectives of unmodified MPI programs, which are C, compiled by each
# MPI's own wrapper, and run by fabtests/coll/run.

# overlap measures, for fabtests/bench/overlap.
coll_tests = kinds life mixed others overlap reduce threads
coll_programs =
if ENABLE_COLL_MPICH
coll_programs += $(coll_tests:%=fabtests/coll/bin/mpich/%)
endif
if ENABLE_COLL_OPENMPI
coll_programs += $(coll_tests:%=fabtests/coll/bin/openmpi/%)
endif

coll-programs: $(coll_programs)

coll_common = fabtests/coll/names.h $(mpi_common)
# -Wno-stringop-overflow: of MPICH's MPI_STATUSES_IGNORE, g++ thinks that it is an array.
coll_compile = $(MKDIR_P) $(@D) && $$wrapper -std=c11 -D_GNU_SOURCE $(WARN_FLAGS) \
	-Wno-stringop-overflow -I$(top_srcdir)/fabtests $(CFLAGS) -pthread -o $@ $(filter %.c,$^)

fabtests/coll/bin/mpich/%: fabtests/coll/%.c $(coll_common)
	$(AM_V_CC)wrapper='$(MPICH_MPICC)'; $(coll_compile)

fabtests/coll/bin/openmpi/%: fabtests/coll/%.c $(coll_common)
	$(AM_V_CC)wrapper='$(OPENMPI_MPICC)'; $(coll_compile)

check-coll: all coll-programs
	@FI_PROVIDER_PATH='$(abs_top_builddir)/.libs'; export FI_PROVIDER_PATH; \
	'$(srcdir)/fabtests/coll/run' -b '$(abs_top_builddir)'

# All that fabtests/bench/overlap runs.
overlap-programs: all coll-programs fabtests/bench/overlap_report fabtests/bench/relay

.PHONY: check-coll coll-programs overlap-programs

CLEANFILES += $(coll_programs)
EXTRA_DIST += fabtests/coll/names.h fabtests/coll/run fabtests/coll/run-mpich \
	$(coll_tests:%=fabtests/coll/%.c)
