# Who polls a NIC, and how many queues it has: the parts of fabtests/bench/queues
# that see the provider's inside. bursts and exact run on the simulated NIC, with
# dpdkxd's loop on the virtual clock; daemon_cost takes real time.

queues_cppflags = $(sim_cppflags)
queues_libs = libqueues.la libsim.la $(daemon_libs) $(sim_libs)

check_LTLIBRARIES += libqueues.la
libqueues_la_SOURCES = \
	fabtests/queues/burst.cpp \
	fabtests/queues/burst.h \
	fabtests/queues/hybrid_port.h \
	fabtests/queues/sim_daemon.cpp \
	fabtests/queues/sim_daemon.h
libqueues_la_CPPFLAGS = $(queues_cppflags)

fabtests_queues_exact_CPPFLAGS = $(queues_cppflags)
fabtests_queues_exact_LDADD = $(queues_libs)
check_PROGRAMS += fabtests/queues/exact
TESTS += fabtests/queues/exact

fabtests_queues_bursts_CPPFLAGS = $(queues_cppflags)
fabtests_queues_bursts_LDADD = $(queues_libs) libcommand_line.la
check_PROGRAMS += fabtests/queues/bursts

fabtests_queues_daemon_cost_CPPFLAGS = $(queues_cppflags)
fabtests_queues_daemon_cost_LDADD = $(daemon_libs) libcommand_line.la $(FMT_LIBS)
fabtests_queues_daemon_cost_SOURCES = fabtests/queues/daemon_cost.cpp fabtests/queues/mirror.h
check_PROGRAMS += fabtests/queues/daemon_cost

# What fabtests/bench/queues runs, which see.
queues-programs: $(sbin_PROGRAMS) fabtests/queues/bursts fabtests/queues/daemon_cost \
	fabtests/bench/burst_perf fabtests/bench/rate_perf fabtests/bench/queues_report
