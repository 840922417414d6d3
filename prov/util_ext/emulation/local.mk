# A library for programs, over any provider: fi_dpdkx_emulation(3).
lib_LTLIBRARIES += libdpdkx-emulation.la
libdpdkx_emulation_la_SOURCES = \
	prov/util_ext/emulation/emulation.cpp \
	prov/util_ext/emulation/transport.cpp \
	prov/util_ext/emulation/transport.h
libdpdkx_emulation_la_CXXFLAGS = $(room_cxxflags)
libdpdkx_emulation_la_LIBADD = libutil_ext.la $(LIBFABRIC_LIBS) $(STATIC_LIBSTDCXX)
libdpdkx_emulation_la_LDFLAGS = -pthread $(LTO_CXXFLAGS) -version-info 0 \
	$(NO_UNDEFINED) -Wl,--as-needed -Wl,--exclude-libs,ALL \
	-export-symbols-regex '^fi_dpdkx_emulate$$'
