# Programs that test a provider through the libfabric API alone, each of several
# cases. fabtests/functional/run starts one after the other, for the provider
# that it is given.

check_LTLIBRARIES += libcommand_line.la libfabtests.la libfabtests_main.la
libcommand_line_la_CPPFLAGS = -I$(top_srcdir)/fabtests $(CLI11_CFLAGS)
libcommand_line_la_SOURCES = fabtests/common/command_line.cpp fabtests/common/command_line.h
libfabtests_la_CPPFLAGS = $(fabtests_cppflags)
libfabtests_la_SOURCES = \
	fabtests/common/fids.h \
	fabtests/common/exposed.cpp fabtests/common/exposed.h \
	fabtests/common/address.cpp fabtests/common/address.h \
	fabtests/common/channel.cpp fabtests/common/channel.h \
	fabtests/common/check.cpp fabtests/common/check.h \
	fabtests/common/completion.cpp fabtests/common/completion.h \
	fabtests/common/connected.cpp fabtests/common/connected.h \
	fabtests/common/counter.cpp fabtests/common/counter.h \
	fabtests/common/endpoint.cpp fabtests/common/endpoint.h \
	fabtests/common/forms.cpp fabtests/common/forms.h \
	fabtests/common/hub.cpp fabtests/common/hub.h \
	fabtests/common/launcher.cpp fabtests/common/launcher.h \
	fabtests/common/log_lines.cpp fabtests/common/log_lines.h \
	fabtests/common/payload.cpp fabtests/common/payload.h \
	fabtests/common/process_state.cpp fabtests/common/process_state.h \
	fabtests/common/progress.cpp fabtests/common/progress.h \
	fabtests/common/rank_process.cpp fabtests/common/rank_process.h \
	fabtests/common/sanitized.h \
	fabtests/common/settings.cpp fabtests/common/settings.h \
	fabtests/common/team.cpp fabtests/common/team.h

libfabtests_main_la_CPPFLAGS = $(fabtests_cppflags)
libfabtests_main_la_SOURCES = fabtests/common/case.h fabtests/common/case_main.cpp

fabtests_cppflags = -I$(top_srcdir)/fabtests -I$(top_srcdir)/include $(LIBFABRIC_CFLAGS) $(FMT_CFLAGS)
fabtests_libs = libfabtests.la libcommand_line.la $(LIBFABRIC_LIBS) $(FMT_LIBS)
functional_libs = libfabtests_main.la $(fabtests_libs)

functional_programs = \
	fabtests/functional/atomic \
	fabtests/functional/av \
	fabtests/functional/busy \
	fabtests/functional/chains \
	fabtests/functional/cm \
	fabtests/functional/cntr \
	fabtests/functional/completion_level \
	fabtests/functional/cq \
	fabtests/functional/crash \
	fabtests/functional/deferred \
	fabtests/functional/dgram \
	fabtests/functional/emulation \
	fabtests/functional/ep \
	fabtests/functional/eq \
	fabtests/functional/fork \
	fabtests/functional/getinfo \
	fabtests/functional/getinfo_address \
	fabtests/functional/getinfo_hints \
	fabtests/functional/getinfo_quiet \
	fabtests/functional/killed \
	fabtests/functional/many \
	fabtests/functional/mr \
	fabtests/functional/msg \
	fabtests/functional/multi_recv \
	fabtests/functional/multicast \
	fabtests/functional/order \
	fabtests/functional/peek \
	$(persistent_programs) \
	fabtests/functional/poll \
	fabtests/functional/progress \
	fabtests/functional/refusals \
	fabtests/functional/remote_cntr \
	fabtests/functional/remote_rights \
	fabtests/functional/rma \
	fabtests/functional/schedules \
	fabtests/functional/settings \
	fabtests/functional/source \
	fabtests/functional/srx \
	fabtests/functional/tagged \
	fabtests/functional/teardown \
	fabtests/functional/threads \
	fabtests/functional/traffic \
	fabtests/functional/triggered \
	fabtests/functional/triggers \
	fabtests/functional/truncation \
	fabtests/functional/unexpected \
	fabtests/functional/users \
	fabtests/functional/wait \
	fabtests/functional/wait_set

if ENABLE_COLLC
persistent_programs = fabtests/functional/persistent \
	fabtests/functional/persistent_failures \
	fabtests/functional/persistent_use
endif
functional_persistent = fabtests/functional/persistent_scene.cpp fabtests/functional/persistent_scene.h
persistent_cppflags = $(fabtests_cppflags) -I$(top_srcdir)/contrib
persistent_libs = $(functional_libs) libcollc-rt.la

functional_transfer = fabtests/functional/transfer.cpp fabtests/functional/transfer.h

# Each is made of the file of its name unless it says more.
fabtests_functional_atomic_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_atomic_LDADD = $(functional_libs)
fabtests_functional_atomic_SOURCES = fabtests/functional/atomic.cpp \
	fabtests/functional/atomic_reference.cpp fabtests/functional/atomic_reference.h
fabtests_functional_av_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_av_LDADD = $(functional_libs)
fabtests_functional_busy_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_busy_LDADD = $(functional_libs)
fabtests_functional_chains_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_chains_LDADD = $(functional_libs)
fabtests_functional_cm_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_cm_LDADD = $(functional_libs)
fabtests_functional_cntr_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_cntr_LDADD = $(functional_libs)
fabtests_functional_completion_level_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_completion_level_LDADD = $(functional_libs)
fabtests_functional_cq_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_cq_LDADD = $(functional_libs)
fabtests_functional_crash_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_crash_LDADD = $(functional_libs)
fabtests_functional_deferred_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_deferred_LDADD = $(functional_libs)
fabtests_functional_deferred_SOURCES = fabtests/functional/deferred.cpp \
	fabtests/functional/deferred_scene.h
fabtests_functional_dgram_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_dgram_LDADD = $(functional_libs)
fabtests_functional_emulation_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_emulation_LDADD = $(functional_libs) libdpdkx-emulation.la
fabtests_functional_emulation_SOURCES = fabtests/functional/emulation.cpp \
	fabtests/common/schedule.cpp fabtests/common/schedule.h
fabtests_functional_ep_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_ep_LDADD = $(functional_libs)
fabtests_functional_eq_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_eq_LDADD = $(functional_libs)
fabtests_functional_fork_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_fork_LDADD = $(functional_libs)
fabtests_functional_getinfo_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_getinfo_LDADD = $(functional_libs)
fabtests_functional_getinfo_address_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_getinfo_address_LDADD = $(functional_libs)
fabtests_functional_getinfo_hints_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_getinfo_hints_LDADD = $(functional_libs)
fabtests_functional_getinfo_quiet_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_getinfo_quiet_LDADD = $(functional_libs)
fabtests_functional_killed_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_killed_LDADD = $(functional_libs)
fabtests_functional_many_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_many_LDADD = $(functional_libs)
fabtests_functional_mr_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_mr_LDADD = $(functional_libs)
fabtests_functional_msg_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_msg_LDADD = $(functional_libs)
fabtests_functional_msg_SOURCES = fabtests/functional/msg.cpp $(functional_transfer)
fabtests_functional_multi_recv_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_multi_recv_LDADD = $(functional_libs)
fabtests_functional_multicast_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_multicast_LDADD = $(functional_libs)
fabtests_functional_order_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_order_LDADD = $(functional_libs)
fabtests_functional_peek_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_peek_LDADD = $(functional_libs)
fabtests_functional_persistent_CPPFLAGS = $(persistent_cppflags)
fabtests_functional_persistent_LDADD = $(persistent_libs)
fabtests_functional_persistent_SOURCES = fabtests/functional/persistent.cpp \
	fabtests/functional/persistent_semantics.cpp \
	$(functional_persistent)
fabtests_functional_persistent_failures_CPPFLAGS = $(persistent_cppflags)
fabtests_functional_persistent_failures_LDADD = $(persistent_libs)
fabtests_functional_persistent_failures_SOURCES = \
	fabtests/functional/persistent_failures.cpp $(functional_persistent)
fabtests_functional_persistent_use_CPPFLAGS = $(persistent_cppflags)
fabtests_functional_persistent_use_CFLAGS = $(AM_CFLAGS) -std=c99 -pedantic
fabtests_functional_persistent_use_LDADD = $(persistent_libs)
fabtests_functional_persistent_use_SOURCES = fabtests/functional/persistent_use.cpp \
	fabtests/functional/allocations.cpp fabtests/functional/allocations.h \
	fabtests/functional/persistent_c.c fabtests/functional/persistent_c.h \
	$(functional_persistent)
fabtests_functional_poll_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_poll_LDADD = $(functional_libs)
fabtests_functional_progress_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_progress_LDADD = $(functional_libs)
fabtests_functional_refusals_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_refusals_LDADD = $(functional_libs)
fabtests_functional_remote_cntr_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_remote_cntr_CFLAGS = $(AM_CFLAGS) -std=c99 -pedantic
fabtests_functional_remote_cntr_LDADD = $(functional_libs)
fabtests_functional_remote_cntr_SOURCES = fabtests/functional/remote_cntr.cpp \
	fabtests/functional/remote_cntr_c.c fabtests/functional/remote_cntr_c.h
fabtests_functional_remote_rights_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_remote_rights_LDADD = $(functional_libs)
fabtests_functional_rma_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_rma_LDADD = $(functional_libs)
fabtests_functional_schedules_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_schedules_LDADD = $(functional_libs)
fabtests_functional_schedules_SOURCES = fabtests/functional/schedules.cpp \
	fabtests/common/schedule.cpp fabtests/common/schedule.h
fabtests_functional_settings_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_settings_LDADD = $(functional_libs)
fabtests_functional_source_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_source_LDADD = $(functional_libs)
fabtests_functional_srx_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_srx_LDADD = $(functional_libs)
fabtests_functional_tagged_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_tagged_LDADD = $(functional_libs)
fabtests_functional_tagged_SOURCES = fabtests/functional/tagged.cpp $(functional_transfer)
fabtests_functional_teardown_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_teardown_LDADD = $(functional_libs)
fabtests_functional_threads_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_threads_LDADD = $(functional_libs)
fabtests_functional_traffic_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_traffic_LDADD = $(functional_libs)
fabtests_functional_triggered_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_triggered_LDADD = $(functional_libs)
fabtests_functional_triggers_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_triggers_LDADD = $(functional_libs)
fabtests_functional_truncation_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_truncation_LDADD = $(functional_libs)
fabtests_functional_unexpected_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_unexpected_LDADD = $(functional_libs)
fabtests_functional_users_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_users_LDADD = $(functional_libs)
fabtests_functional_wait_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_wait_LDADD = $(functional_libs)
fabtests_functional_wait_set_CPPFLAGS = $(fabtests_cppflags)
fabtests_functional_wait_set_LDADD = $(functional_libs)

check_PROGRAMS += $(functional_programs)
functional_scripts = fabtests/functional/run fabtests/functional/run-containers \
	fabtests/functional/run-daemon fabtests/functional/run-dpdkxd fabtests/functional/run-hosts
dist_check_SCRIPTS += $(functional_scripts)
TESTS += $(functional_scripts)
if ENABLE_DAEMON
dist_check_SCRIPTS += fabtests/functional/run-check
TESTS += fabtests/functional/run-check
else
EXTRA_DIST += fabtests/functional/run-check
endif
# check-tsan has of them those that call from several threads, or let the
# provider have one of its own.
functional_tsan = chains cntr deferred eq progress threads wait wait_set
if ENABLE_COLLC
functional_tsan += persistent
endif
tsan_tests += fabtests/functional/run
tsan_programs += $(functional_tsan:%=fabtests/functional/%)
