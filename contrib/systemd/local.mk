# dpdkxd as a service, and an example of its configuration file. Into systemd's folder only where
# that is asked for: make install DESTDIR= would else write outside the prefix.
EXTRA_DIST += contrib/systemd/dpdkxd.service.in contrib/systemd/dpdkxd.conf

if ENABLE_DAEMON
contrib/systemd/dpdkxd.service: contrib/systemd/dpdkxd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) contrib/systemd && \
	sed 's|@sbindir[@]|$(sbindir)|' '$(srcdir)/contrib/systemd/dpdkxd.service.in' >$@.new && \
	mv $@.new $@
CLEANFILES += contrib/systemd/dpdkxd.service

dpdkxdexampledir = $(datadir)/dpdkx
dpdkxdexample_DATA = contrib/systemd/dpdkxd.conf
systemdsystemunit_DATA = contrib/systemd/dpdkxd.service
endif
