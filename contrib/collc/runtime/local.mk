# The runtime of persistent collectives: libfabric, and the compiler's C
# interface.
collc_rt_sources = \
	contrib/collc/runtime/collective.cpp contrib/collc/runtime/collective.h \
	contrib/collc/runtime/combine.cpp contrib/collc/runtime/combine.h \
	contrib/collc/runtime/digest.h \
	contrib/collc/runtime/error.cpp contrib/collc/runtime/error.h \
	contrib/collc/runtime/exchange.cpp contrib/collc/runtime/exchange.h \
	contrib/collc/runtime/fabric.cpp contrib/collc/runtime/fabric.h \
	contrib/collc/runtime/fids.h \
	contrib/collc/runtime/function/channel.cpp contrib/collc/runtime/function/channel.h \
	contrib/collc/runtime/function/frame.h \
	contrib/collc/runtime/function/function.h \
	contrib/collc/runtime/function/runner.cpp \
	contrib/collc/runtime/function/transport.cpp \
	contrib/collc/runtime/group.cpp contrib/collc/runtime/group.h \
	contrib/collc/runtime/offload/entries.cpp \
	contrib/collc/runtime/offload/offload.h \
	contrib/collc/runtime/offload/runner.cpp \
	contrib/collc/runtime/offload/transport.cpp \
	contrib/collc/runtime/options.cpp contrib/collc/runtime/options.h \
	contrib/collc/runtime/plan.cpp contrib/collc/runtime/plan.h \
	contrib/collc/runtime/registry.cpp contrib/collc/runtime/registry.h \
	contrib/collc/runtime/request.cpp contrib/collc/runtime/request.h \
	contrib/collc/runtime/transport.h

collc_rt_cppflags = -I$(top_srcdir)/contrib -I$(top_srcdir)/include \
	$(LIBFABRIC_CFLAGS) $(FMT_CFLAGS)

collc_rt_libs = libcollc.la $(LIBFABRIC_LIBS) $(FMT_LIBS)

if ENABLE_COLLC
noinst_LTLIBRARIES += libcollc_rt_parts.la
libcollc_rt_parts_la_CPPFLAGS = $(collc_rt_cppflags)
libcollc_rt_parts_la_SOURCES = $(collc_rt_sources)

lib_LTLIBRARIES += libcollc-rt.la
libcollc_rt_la_CPPFLAGS = $(collc_rt_cppflags)
libcollc_rt_la_SOURCES = contrib/collc/runtime/runtime.cpp contrib/collc/collc_runtime.h
libcollc_rt_la_LIBADD = libcollc_rt_parts.la $(collc_rt_libs)
libcollc_rt_la_LDFLAGS = $(NO_LTO) -version-info 0 $(NO_UNDEFINED) -Wl,--as-needed \
	-Wl,--exclude-libs,ALL -export-symbols-regex '^collc_rt_'

include_HEADERS += contrib/collc/collc_runtime.h
nodist_pkgconfig_DATA += contrib/collc/collc-rt.pc
dist_man_MANS += man/collc_runtime.3
endif
