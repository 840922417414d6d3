# What forwards between ranks and devices; links no DPDK, as the provider.
daemon_sources = \
	prov/dpdkx/daemon/acknowledger.cpp \
	prov/dpdkx/daemon/acknowledger.h \
	prov/dpdkx/daemon/attachment.cpp \
	prov/dpdkx/daemon/attachment.h \
	prov/dpdkx/daemon/config.h \
	prov/dpdkx/daemon/daemon.cpp \
	prov/dpdkx/daemon/daemon.h \
	prov/dpdkx/daemon/server.cpp \
	prov/dpdkx/daemon/server.h \
	prov/dpdkx/daemon/status.h

# The program around it: command line, configuration file, what it tells.
dpdkxd_sources =
