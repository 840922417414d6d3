# Endpoints on a simulated network: the real engine on a virtual clock. Each
# program runs its cases with fixed seeds; see sim/common/case.h.

sim_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests $(FMT_CFLAGS)
sim_libs = $(engine_libs) liblink_sim.la $(FMT_LIBS)

sim_world_sources = \
	fabtests/harness/calls.h \
	fabtests/harness/forwarding_port.h \
	fabtests/harness/idle_domain.h \
	fabtests/sim/common/book.h \
	fabtests/sim/common/calls.cpp \
	fabtests/sim/common/check.cpp \
	fabtests/sim/common/check.h \
	fabtests/sim/common/connecting.h \
	fabtests/sim/common/exposed.h \
	fabtests/sim/common/node.cpp \
	fabtests/sim/common/node.h \
	fabtests/sim/common/op.h \
	fabtests/sim/common/payload.cpp \
	fabtests/sim/common/payload.h \
	fabtests/sim/common/trace.cpp \
	fabtests/sim/common/trace.h \
	fabtests/sim/common/world.cpp \
	fabtests/sim/common/world.h
sim_case_sources = \
	fabtests/sim/common/case.cpp \
	fabtests/sim/common/case.h \
	fabtests/sim/common/each_link.h \
	fabtests/sim/common/exchange.cpp \
	fabtests/sim/common/exchange.h \
	fabtests/sim/common/firing.h \
	fabtests/sim/common/matching_model.cpp \
	fabtests/sim/common/matching_model.h \
	fabtests/sim/common/memory_model.cpp \
	fabtests/sim/common/memory_model.h \
	fabtests/sim/common/open_ops.h \
	fabtests/sim/common/recorder.h \
	fabtests/sim/common/remote_traffic.cpp \
	fabtests/sim/common/remote_traffic.h \
	fabtests/sim/common/traffic.cpp \
	fabtests/sim/common/traffic.h

# Compiled once for all of them.
check_LTLIBRARIES += libsim.la
libsim_la_SOURCES = $(sim_world_sources) $(sim_case_sources)
libsim_la_CPPFLAGS = $(sim_cppflags)

sim_programs = \
	fabtests/sim/bulk_port \
	fabtests/sim/connections \
	fabtests/sim/counters \
	fabtests/sim/datagrams \
	fabtests/sim/delivery \
	fabtests/sim/failures \
	fabtests/sim/failures_remote \
	fabtests/sim/order \
	fabtests/sim/random_calls \
	fabtests/sim/scale \
	fabtests/sim/schedules \
	fabtests/sim/semantics \
	fabtests/sim/threads

if ENABLE_COLLC
sim_programs += fabtests/sim/collectives
fabtests_sim_collectives_SOURCES = fabtests/sim/collectives.cpp contrib/collc/run/data.cpp
fabtests_sim_collectives_CPPFLAGS = $(sim_cppflags) $(collc_cppflags)
fabtests_sim_collectives_LDADD = libsim.la $(sim_libs) libcollc_parts.la
endif

if ENABLE_DAEMON
sim_programs += fabtests/sim/daemon
fabtests_sim_daemon_CPPFLAGS = $(sim_cppflags)
fabtests_sim_daemon_LDADD = libsim.la $(daemon_libs) $(sim_libs)
endif

# Each is made of the file of its name unless it says more.
fabtests_sim_bulk_port_CPPFLAGS = $(sim_cppflags)
fabtests_sim_bulk_port_LDADD = libsim.la $(sim_libs)
fabtests_sim_connections_CPPFLAGS = $(sim_cppflags)
fabtests_sim_connections_LDADD = libsim.la $(sim_libs)
fabtests_sim_counters_SOURCES = fabtests/sim/counters.cpp fabtests/sim/counters_order.cpp
fabtests_sim_counters_CPPFLAGS = $(sim_cppflags)
fabtests_sim_counters_LDADD = libsim.la $(sim_libs)
fabtests_sim_datagrams_CPPFLAGS = $(sim_cppflags)
fabtests_sim_datagrams_LDADD = libsim.la $(sim_libs)
fabtests_sim_delivery_CPPFLAGS = $(sim_cppflags)
fabtests_sim_delivery_LDADD = libsim.la $(sim_libs)
fabtests_sim_failures_CPPFLAGS = $(sim_cppflags)
fabtests_sim_failures_LDADD = libsim.la $(sim_libs)
fabtests_sim_failures_remote_CPPFLAGS = $(sim_cppflags)
fabtests_sim_failures_remote_LDADD = libsim.la $(sim_libs)
fabtests_sim_order_CPPFLAGS = $(sim_cppflags)
fabtests_sim_order_LDADD = libsim.la $(sim_libs)
fabtests_sim_random_calls_CPPFLAGS = $(sim_cppflags)
fabtests_sim_random_calls_LDADD = libsim.la $(sim_libs)
fabtests_sim_scale_CPPFLAGS = $(sim_cppflags)
fabtests_sim_scale_LDADD = libsim.la $(sim_libs)
fabtests_sim_schedules_SOURCES = fabtests/sim/schedules.cpp \
	fabtests/common/schedule.cpp fabtests/common/schedule.h
fabtests_sim_schedules_CPPFLAGS = $(sim_cppflags)
fabtests_sim_schedules_LDADD = libsim.la $(sim_libs)
fabtests_sim_semantics_CPPFLAGS = $(sim_cppflags)
fabtests_sim_semantics_LDADD = libsim.la $(sim_libs)
fabtests_sim_threads_CPPFLAGS = $(sim_cppflags)
fabtests_sim_threads_LDADD = libsim.la $(sim_libs)

check_PROGRAMS += $(sim_programs)
TESTS += $(sim_programs)
tsan_tests += fabtests/sim/threads
tsan_programs += fabtests/sim/threads
