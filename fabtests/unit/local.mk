# One program a room. A room's test files, one for each of its source files,
# are listed in fabtests/unit/<room>/local.mk; each defines its cases and one
# unit::Group, which main.cpp runs.

include fabtests/unit/base/local.mk
include fabtests/unit/util_ext/local.mk
include fabtests/unit/wire/local.mk
include fabtests/unit/session/local.mk
include fabtests/unit/op/local.mk
include fabtests/unit/link_host/local.mk
include fabtests/unit/link_sim/local.mk
include fabtests/unit/link_daemon/local.mk
include fabtests/unit/net/local.mk
include fabtests/unit/check/local.mk
include fabtests/unit/check_command/local.mk
include fabtests/unit/engine/local.mk
include fabtests/unit/face/local.mk
include fabtests/unit/link_ethdev/local.mk
include fabtests/unit/daemon/local.mk
include fabtests/unit/collc/local.mk
include fabtests/unit/collc_rt/local.mk

unit_common = fabtests/unit/unit.h fabtests/unit/property.h fabtests/unit/main.cpp
unit_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/fabtests $(CMOCKA_CFLAGS)
unit_libs = fabtests/unit/libproperty.la $(CMOCKA_LIBS) -lrapidcheck

# Compiled once for all of them.
check_LTLIBRARIES += fabtests/unit/libproperty.la
fabtests_unit_libproperty_la_SOURCES = fabtests/unit/property.cpp fabtests/unit/property.h
fabtests_unit_libproperty_la_CPPFLAGS = $(unit_cppflags)

unit_programs = \
	fabtests/unit/test_base \
	fabtests/unit/test_util_ext \
	fabtests/unit/test_wire \
	fabtests/unit/test_session \
	fabtests/unit/test_op \
	fabtests/unit/test_op_threads \
	fabtests/unit/test_link_host \
	fabtests/unit/test_link_sim \
	fabtests/unit/test_link_daemon \
	fabtests/unit/test_net \
	fabtests/unit/test_check \
	fabtests/unit/test_engine \
	fabtests/unit/test_face

fabtests_unit_test_base_SOURCES = $(unit_common) $(unit_base_sources)
fabtests_unit_test_base_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_base_LDADD = $(base_libs) $(unit_libs)

fabtests_unit_test_util_ext_SOURCES = $(unit_common) $(unit_util_ext_sources)
fabtests_unit_test_util_ext_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_util_ext_LDADD = $(util_ext_libs) $(unit_libs)

fabtests_unit_test_wire_SOURCES = $(unit_common) $(unit_wire_sources)
fabtests_unit_test_wire_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_wire_LDADD = $(wire_libs) $(unit_libs)

fabtests_unit_test_session_SOURCES = $(unit_common) $(unit_session_sources)
fabtests_unit_test_session_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_session_LDADD = $(session_libs) $(unit_libs)

fabtests_unit_test_op_SOURCES = $(unit_common) $(unit_op_sources)
fabtests_unit_test_op_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_op_LDADD = $(op_libs) $(unit_libs)

fabtests_unit_test_op_threads_SOURCES = $(unit_common) $(unit_op_threads_sources)
fabtests_unit_test_op_threads_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_op_threads_LDADD = $(op_libs) $(unit_libs)

fabtests_unit_test_link_host_SOURCES = $(unit_common) $(unit_link_host_sources)
fabtests_unit_test_link_host_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_link_host_LDADD = $(link_host_libs) $(unit_libs)

fabtests_unit_test_link_sim_SOURCES = $(unit_common) $(unit_link_sim_sources)
fabtests_unit_test_link_sim_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_link_sim_LDADD = $(link_sim_libs) $(unit_libs)

fabtests_unit_test_link_daemon_SOURCES = $(unit_common) $(unit_link_daemon_sources)
fabtests_unit_test_link_daemon_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_link_daemon_LDADD = $(link_daemon_libs) $(unit_libs)

fabtests_unit_test_net_SOURCES = $(unit_common) $(unit_net_sources)
fabtests_unit_test_net_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_net_LDADD = $(net_libs) $(unit_libs)

fabtests_unit_test_check_SOURCES = $(unit_common) $(unit_check_sources)
fabtests_unit_test_check_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_check_LDADD = $(check_libs) liblink_sim.la $(unit_libs)

fabtests_unit_test_engine_SOURCES = $(unit_common) $(unit_engine_sources)
fabtests_unit_test_engine_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_engine_LDADD = $(engine_libs) liblink_sim.la $(unit_libs)

fabtests_unit_test_face_SOURCES = $(unit_common) $(unit_face_sources)
fabtests_unit_test_face_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_face_LDADD = $(face_libs) $(unit_libs)

if HAVE_DPDK
unit_programs += fabtests/unit/test_link_ethdev
fabtests_unit_test_link_ethdev_SOURCES = $(unit_common) $(unit_link_ethdev_sources)
fabtests_unit_test_link_ethdev_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_link_ethdev_CXXFLAGS = $(own_cxxflags) $(DPDK_CFLAGS)
fabtests_unit_test_link_ethdev_LDADD = $(link_ethdev_libs) $(unit_libs)
endif

if ENABLE_DAEMON
unit_programs += fabtests/unit/test_daemon fabtests/unit/test_dpdkxd
fabtests_unit_test_daemon_SOURCES = $(unit_common) $(unit_daemon_sources)
fabtests_unit_test_daemon_CPPFLAGS = $(unit_cppflags)
fabtests_unit_test_daemon_LDADD = $(daemon_libs) $(unit_libs)

fabtests_unit_test_dpdkxd_SOURCES = $(unit_common) $(unit_dpdkxd_sources)
fabtests_unit_test_dpdkxd_CPPFLAGS = $(unit_cppflags) $(dpdkxd_cppflags)
fabtests_unit_test_dpdkxd_LDADD = $(dpdkxd_libs) $(unit_libs)

unit_programs += fabtests/unit/test_check_command
fabtests_unit_test_check_command_SOURCES = $(unit_common) $(unit_check_command_sources)
fabtests_unit_test_check_command_CPPFLAGS = $(unit_cppflags) $(dpdkxd_cppflags)
fabtests_unit_test_check_command_LDADD = $(dpdkx_check_libs) $(unit_libs)
endif

if ENABLE_COLLC
unit_programs += fabtests/unit/test_collc
fabtests_unit_test_collc_SOURCES = $(unit_common) $(unit_collc_sources)
fabtests_unit_test_collc_CPPFLAGS = $(unit_cppflags) $(collc_cppflags)
fabtests_unit_test_collc_LDADD = libcollc.la $(collc_libs) $(unit_libs)

unit_programs += fabtests/unit/test_collc_rt
fabtests_unit_test_collc_rt_SOURCES = $(unit_common) $(unit_collc_rt_sources)
fabtests_unit_test_collc_rt_CPPFLAGS = $(unit_cppflags) $(collc_rt_cppflags)
fabtests_unit_test_collc_rt_LDADD = libcollc_rt_parts.la $(collc_rt_libs) $(collc_libs) $(unit_libs)
endif

check_PROGRAMS += $(unit_programs)
TESTS += $(unit_programs)

# Those that start threads. Of the others' code in several threads the simulation
# and the functional programs make use.
unit_tsan = \
	fabtests/unit/test_base \
	fabtests/unit/test_util_ext \
	fabtests/unit/test_op_threads \
	fabtests/unit/test_link_host \
	fabtests/unit/test_link_daemon \
	fabtests/unit/test_face
tsan_tests += $(unit_tsan)
tsan_programs += $(unit_tsan)
if ENABLE_DAEMON
tsan_tests += fabtests/unit/test_daemon
tsan_programs += fabtests/unit/test_daemon
endif
