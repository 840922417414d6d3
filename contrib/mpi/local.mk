# Persistent collectives for unmodified MPI programs: one source, a library for
# each MPI that configure found.
coll_sources = \
	contrib/mpi/abi.h \
	contrib/mpi/call.h \
	contrib/mpi/communicator.cpp contrib/mpi/communicator.h \
	contrib/mpi/error.cpp contrib/mpi/error.h \
	contrib/mpi/examine.cpp contrib/mpi/examine.h \
	contrib/mpi/handle.cpp contrib/mpi/handle.h \
	contrib/mpi/init.cpp contrib/mpi/init.h \
	contrib/mpi/init_functions.inc \
	contrib/mpi/interpose_complete.cpp \
	contrib/mpi/interpose_init.cpp \
	contrib/mpi/interpose_life.cpp \
	contrib/mpi/interpose_others.cpp \
	contrib/mpi/mixed.cpp contrib/mpi/mixed.h \
	contrib/mpi/other_functions.inc \
	contrib/mpi/ops.cpp contrib/mpi/ops.h \
	contrib/mpi/other_mpi.cpp \
	contrib/mpi/progress.cpp contrib/mpi/progress.h \
	contrib/mpi/reductions.cpp contrib/mpi/reductions.h \
	contrib/mpi/request.cpp contrib/mpi/request.h \
	contrib/mpi/settings.cpp contrib/mpi/settings.h \
	contrib/mpi/table.cpp contrib/mpi/table.h \
	contrib/mpi/ways.cpp contrib/mpi/ways.h

coll_cppflags = -I$(top_srcdir)/contrib $(LIBFABRIC_CFLAGS) $(FMT_CFLAGS)
coll_libs = libcollc-rt.la $(FMT_LIBS)
coll_ldflags = $(NO_LTO) -pthread -module -avoid-version -shared $(NO_UNDEFINED) \
	-Wl,--exclude-libs,ALL -export-symbols-regex '^MPIX?_'

if ENABLE_COLL_MPICH
lib_LTLIBRARIES += libdpdkx-coll-mpich.la
libdpdkx_coll_mpich_la_CPPFLAGS = $(coll_cppflags) $(MPICH_CPPFLAGS)
libdpdkx_coll_mpich_la_SOURCES = $(coll_sources)
libdpdkx_coll_mpich_la_LIBADD = $(coll_libs) $(MPICH_LIBS)
libdpdkx_coll_mpich_la_LDFLAGS = $(coll_ldflags)
endif

if ENABLE_COLL_OPENMPI
lib_LTLIBRARIES += libdpdkx-coll-openmpi.la
libdpdkx_coll_openmpi_la_CPPFLAGS = $(coll_cppflags) $(OPENMPI_CPPFLAGS)
libdpdkx_coll_openmpi_la_SOURCES = $(coll_sources)
libdpdkx_coll_openmpi_la_LIBADD = $(coll_libs) $(OPENMPI_LIBS)
libdpdkx_coll_openmpi_la_LDFLAGS = $(coll_ldflags)
endif

# Where neither is built, the sources are in the archive all the same.
EXTRA_DIST += $(coll_sources)

EXTRA_DIST += man/dpdkx_coll.7
if ENABLE_COLL_MPICH
dist_man_MANS += man/dpdkx_coll.7
else
if ENABLE_COLL_OPENMPI
dist_man_MANS += man/dpdkx_coll.7
endif
endif
