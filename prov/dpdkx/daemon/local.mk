# What forwards between ranks and devices; links no DPDK, as the provider.
daemon_sources = \
	prov/dpdkx/daemon/config.h \
	prov/dpdkx/daemon/status.h

# The program around it: command line, configuration file, what it tells.
dpdkxd_sources =
