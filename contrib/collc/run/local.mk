# The command that runs a collective between processes of this host.
if ENABLE_COLLC
bin_PROGRAMS += contrib/collc/collc-run
contrib_collc_collc_run_CPPFLAGS = $(collc_cppflags) $(collc_rt_cppflags)
contrib_collc_collc_run_SOURCES = \
	contrib/collc/run/collc_run.cpp \
	contrib/collc/run/data.cpp contrib/collc/run/data.h \
	contrib/collc/run/hub.cpp contrib/collc/run/hub.h
contrib_collc_collc_run_LDADD = libcollc-rt.la libcollc.la $(collc_libs) $(LIBFABRIC_LIBS)
dist_man_MANS += man/collc-run.1
endif
