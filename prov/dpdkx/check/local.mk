# Probes: who answers them, who asks, and what that shows. Links no DPDK.
check_sources = \
	prov/dpdkx/check/prober.cpp \
	prov/dpdkx/check/prober.h \
	prov/dpdkx/check/random.cpp \
	prov/dpdkx/check/random.h \
	prov/dpdkx/check/responder.cpp \
	prov/dpdkx/check/responder.h \
	prov/dpdkx/check/result.cpp \
	prov/dpdkx/check/result.h \
	prov/dpdkx/check/run.cpp \
	prov/dpdkx/check/run.h

# The program around it, and what it needs of others.
dpdkx_check_sources = \
	prov/dpdkx/check/command/device.cpp \
	prov/dpdkx/check/command/device.h \
	prov/dpdkx/check/command/hosts.cpp \
	prov/dpdkx/check/command/hosts.h \
	prov/dpdkx/check/command/options.cpp \
	prov/dpdkx/check/command/options.h \
	prov/dpdkx/check/command/report.cpp \
	prov/dpdkx/check/command/report.h \
	prov/dpdkx/check/command/wait.cpp \
	prov/dpdkx/check/command/wait.h \
	prov/dpdkx/daemon/module_file.cpp \
	prov/dpdkx/daemon/module_file.h \
	prov/dpdkx/key_digest.cpp \
	prov/dpdkx/key_digest.h \
	prov/dpdkx/settings.cpp \
	prov/dpdkx/settings.h
