# Debian 13's libfabric 2, in folders of the build. "make check-libfabric2": the
# provider compiles against its headers, which has no library of its own here to
# be linked with; and what is built against 1.17 works under it, where root can try.

EXTRA_DIST += fabtests/libfabric2/run fabtests/libfabric2/unpack

# Those that include something of libfabric's.
libfabric2_rooms = libutil_ext.la libop.la libengine.la libface.la

check-libfabric2: libdpdkx-fi.la mpi-programs
	@'$(srcdir)/fabtests/libfabric2/unpack' libfabric2/headers libfabric-dev
	+@$(subbuild) libfabric2/build --disable-tests --without-dpdk --disable-lto \
	  LIBFABRIC_CFLAGS='-I$(abs_builddir)/libfabric2/headers/usr/include' LIBFABRIC_LIBS=-lfabric \
	  CC=clang CXX=clang++ CXXFLAGS=-O0 -- $(libfabric2_rooms)
	@if test "`id -u`" = 0; then \
	  '$(srcdir)/fabtests/libfabric2/run' -p .libs -m fabtests/mpi/bin libfabric2/tree; \
	else echo 'left out: running under libfabric 2, which needs root'; fi

.PHONY: check-libfabric2

clean-local: clean-libfabric2
clean-libfabric2:
	-rm -rf libfabric2
.PHONY: clean-libfabric2
