# Inputs that they begin with.
EXTRA_DIST += fabtests/fuzz/corpus

# libFuzzer programs, built by a configure with --enable-fuzz and run by
# "make check-fuzz".
if ENABLE_FUZZ
fuzz_programs += fabtests/fuzz/fuzz_wire fabtests/fuzz/fuzz_session \
	fabtests/fuzz/fuzz_net fabtests/fuzz/fuzz_endpoint
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer

fabtests_fuzz_fuzz_wire_SOURCES = fabtests/fuzz/fuzz_wire.cpp
fabtests_fuzz_fuzz_wire_LDFLAGS = $(fuzz_ldflags)
fabtests_fuzz_fuzz_wire_LDADD = $(wire_libs)

fabtests_fuzz_fuzz_session_SOURCES = fabtests/fuzz/fuzz_session.cpp
fabtests_fuzz_fuzz_session_LDFLAGS = $(fuzz_ldflags)
fabtests_fuzz_fuzz_session_LDADD = $(session_libs)

fabtests_fuzz_fuzz_net_SOURCES = fabtests/fuzz/fuzz_net.cpp
fabtests_fuzz_fuzz_net_LDFLAGS = $(fuzz_ldflags)
fabtests_fuzz_fuzz_net_LDADD = $(net_libs)

fabtests_fuzz_fuzz_endpoint_SOURCES = fabtests/fuzz/fuzz_endpoint.cpp \
	fabtests/fuzz/forged_frame.cpp fabtests/fuzz/forged_frame.h fabtests/fuzz/input.h \
	$(sim_world_sources)
fabtests_fuzz_fuzz_endpoint_CPPFLAGS = $(sim_cppflags)
fabtests_fuzz_fuzz_endpoint_LDFLAGS = $(fuzz_ldflags)
fabtests_fuzz_fuzz_endpoint_LDADD = $(sim_libs)

if ENABLE_DAEMON
fuzz_programs += fabtests/fuzz/fuzz_daemon fabtests/fuzz/fuzz_link_daemon
fuzz_daemon_common = fabtests/fuzz/input.h fabtests/fuzz/packets.cpp fabtests/fuzz/packets.h \
	fabtests/fuzz/scribble.h

fabtests_fuzz_fuzz_daemon_SOURCES = fabtests/fuzz/fuzz_daemon.cpp fabtests/harness/hub.h \
	fabtests/harness/passing.h $(fuzz_daemon_common)
fabtests_fuzz_fuzz_daemon_CPPFLAGS = $(sim_cppflags)
fabtests_fuzz_fuzz_daemon_LDFLAGS = $(fuzz_ldflags)
fabtests_fuzz_fuzz_daemon_LDADD = $(daemon_libs)

fabtests_fuzz_fuzz_link_daemon_SOURCES = fabtests/fuzz/fuzz_link_daemon.cpp $(fuzz_daemon_common)
fabtests_fuzz_fuzz_link_daemon_CPPFLAGS = $(sim_cppflags)
fabtests_fuzz_fuzz_link_daemon_LDFLAGS = $(fuzz_ldflags)
fabtests_fuzz_fuzz_link_daemon_LDADD = $(daemon_libs)
endif

if ENABLE_COLLC
fuzz_programs += fabtests/fuzz/fuzz_collc
fabtests_fuzz_fuzz_collc_SOURCES = fabtests/fuzz/fuzz_collc.cpp
fabtests_fuzz_fuzz_collc_CPPFLAGS = $(collc_cppflags)
fabtests_fuzz_fuzz_collc_LDFLAGS = $(fuzz_ldflags)
fabtests_fuzz_fuzz_collc_LDADD = $(collc_libs)
endif

noinst_PROGRAMS += $(fuzz_programs)
endif
