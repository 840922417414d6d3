# fabtests/bench/bench measures dpdkx beside other providers and the floors; the
# other programs here are those that it runs.

bench_programs = \
	fabtests/bench/bench \
	fabtests/bench/burst_perf \
	fabtests/bench/fabric_perf \
	fabtests/bench/floor_shm \
	fabtests/bench/floor_socket \
	fabtests/bench/getinfo_cost \
	fabtests/bench/overlap_report \
	fabtests/bench/queues_report \
	fabtests/bench/rate_perf \
	fabtests/bench/relay \
	fabtests/bench/remote_perf \
	fabtests/bench/trigger_perf

# What several of them share, compiled once; only where they are built.
EXTRA_LTLIBRARIES = libbench.la
CLEANFILES += libbench.la
libbench_la_CPPFLAGS = $(fabtests_cppflags)
libbench_la_SOURCES = \
	fabtests/bench/bench_main.cpp fabtests/bench/bench_main.h \
	fabtests/bench/child.cpp fabtests/bench/child.h \
	fabtests/bench/report.cpp fabtests/bench/report.h \
	fabtests/bench/results.cpp fabtests/bench/results.h \
	fabtests/bench/sampling.cpp fabtests/bench/sampling.h
bench_libs = libbench.la $(fabtests_libs)

fabtests_bench_bench_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_bench_LDADD = $(bench_libs)
fabtests_bench_bench_SOURCES = \
	fabtests/bench/bench.cpp \
	fabtests/bench/namespaces.cpp fabtests/bench/namespaces.h \
	fabtests/bench/plan.cpp fabtests/bench/plan.h \
	fabtests/bench/targets.cpp fabtests/bench/targets.h

fabtests_bench_burst_perf_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_burst_perf_LDADD = $(bench_libs)
fabtests_bench_burst_perf_SOURCES = fabtests/bench/burst_perf.cpp

fabtests_bench_fabric_perf_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_fabric_perf_LDADD = $(bench_libs)
fabtests_bench_fabric_perf_SOURCES = fabtests/bench/raw_endpoint.h \
	fabtests/bench/fabric_perf.cpp

fabtests_bench_remote_perf_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_remote_perf_LDADD = $(bench_libs)
fabtests_bench_remote_perf_SOURCES = fabtests/bench/raw_endpoint.h \
	fabtests/bench/remote_perf.cpp

fabtests_bench_trigger_perf_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_trigger_perf_LDADD = $(bench_libs)
fabtests_bench_trigger_perf_SOURCES = fabtests/bench/trigger_perf.cpp

fabtests_bench_floor_shm_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_floor_shm_LDADD = $(bench_libs)
fabtests_bench_floor_shm_SOURCES = fabtests/bench/floor_shm.cpp

fabtests_bench_floor_socket_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_floor_socket_LDADD = $(bench_libs)
fabtests_bench_floor_socket_SOURCES = fabtests/bench/floor_socket.cpp

fabtests_bench_getinfo_cost_CPPFLAGS = $(LIBFABRIC_CFLAGS)
fabtests_bench_getinfo_cost_LDADD = $(LIBFABRIC_LIBS)
fabtests_bench_getinfo_cost_SOURCES = fabtests/bench/getinfo_cost.cpp

# What fabtests/bench/overlap runs, besides fabtests/coll/overlap.c.
fabtests_bench_overlap_report_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_overlap_report_LDADD = $(bench_libs)
fabtests_bench_overlap_report_SOURCES = \
	fabtests/bench/overlap_report.cpp \
	fabtests/bench/targets.h

# What fabtests/bench/queues runs, besides burst_perf, rate_perf, fabtests/queues and fabtests/mpi/latency.
fabtests_bench_queues_report_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_queues_report_LDADD = $(bench_libs)
fabtests_bench_queues_report_SOURCES = \
	fabtests/bench/queues_report.cpp \
	fabtests/bench/targets.h

fabtests_bench_rate_perf_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_rate_perf_LDADD = $(bench_libs)
fabtests_bench_rate_perf_SOURCES = fabtests/bench/rate_perf.cpp

fabtests_bench_relay_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_relay_LDADD = $(fabtests_libs)
fabtests_bench_relay_SOURCES = fabtests/bench/relay.cpp

if HAVE_DPDK
bench_programs += fabtests/bench/floor_dpdk
fabtests_bench_floor_dpdk_CPPFLAGS = $(fabtests_cppflags)
fabtests_bench_floor_dpdk_CXXFLAGS = $(own_cxxflags) $(DPDK_CFLAGS)
fabtests_bench_floor_dpdk_LDADD = $(bench_libs) $(DPDK_LIBS) -lrte_bus_vdev
fabtests_bench_floor_dpdk_SOURCES = fabtests/bench/floor_dpdk.cpp
endif

bench-programs: $(bench_programs) fabtests/sim/scale

check_PROGRAMS += $(bench_programs)

EXTRA_DIST += fabtests/bench/overlap fabtests/bench/queues
