unit_link_host_sources = \
	fabtests/harness/passing.h \
	fabtests/unit/link_host/data.cpp \
	fabtests/unit/link_host/ends.cpp \
	fabtests/unit/link_host/fork.cpp \
	fabtests/unit/link_host/harness.cpp \
	fabtests/unit/link_host/harness.h \
	fabtests/unit/link_host/hostile.cpp \
	fabtests/unit/link_host/limits.cpp \
	fabtests/unit/link_host/names.cpp \
	fabtests/unit/link_host/pull.cpp \
	fabtests/unit/link_host/ring.cpp \
	fabtests/unit/link_host/wait.cpp

noinst_PROGRAMS += fabtests/unit/link_host/bench_ring
fabtests_unit_link_host_bench_ring_SOURCES = fabtests/unit/link_host/bench_ring.cpp
fabtests_unit_link_host_bench_ring_LDADD = $(link_host_libs)
