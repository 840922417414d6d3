# What forwards between ranks and devices; links no DPDK, as the provider.
daemon_sources = \
	prov/dpdkx/daemon/acknowledger.cpp \
	prov/dpdkx/daemon/acknowledger.h \
	prov/dpdkx/daemon/attachment.cpp \
	prov/dpdkx/daemon/attachment.h \
	prov/dpdkx/daemon/check_port.cpp \
	prov/dpdkx/daemon/check_port.h \
	prov/dpdkx/daemon/config.h \
	prov/dpdkx/daemon/daemon.cpp \
	prov/dpdkx/daemon/daemon.h \
	prov/dpdkx/daemon/path_lock.cpp \
	prov/dpdkx/daemon/path_lock.h \
	prov/dpdkx/daemon/server.cpp \
	prov/dpdkx/daemon/server.h \
	prov/dpdkx/daemon/status.h \
	prov/dpdkx/daemon/status_json.cpp \
	prov/dpdkx/daemon/status_json.h \
	prov/dpdkx/daemon/undertaker.cpp \
	prov/dpdkx/daemon/undertaker.h

# The program around it: command line, configuration file, what it tells.
dpdkxd_sources = \
	prov/dpdkx/daemon/check.cpp \
	prov/dpdkx/daemon/check.h \
	prov/dpdkx/daemon/check_device.cpp \
	prov/dpdkx/daemon/check_memory.cpp \
	prov/dpdkx/daemon/check_parts.h \
	prov/dpdkx/daemon/check_privileges.cpp \
	prov/dpdkx/daemon/check_processor.cpp \
	prov/dpdkx/daemon/command_line.cpp \
	prov/dpdkx/daemon/command_line.h \
	prov/dpdkx/daemon/config_file.cpp \
	prov/dpdkx/daemon/config_file.h \
	prov/dpdkx/daemon/console.cpp \
	prov/dpdkx/daemon/console.h \
	prov/dpdkx/daemon/endpoint_text.cpp \
	prov/dpdkx/daemon/endpoint_text.h \
	prov/dpdkx/daemon/metrics.cpp \
	prov/dpdkx/daemon/metrics.h \
	prov/dpdkx/daemon/metrics_server.cpp \
	prov/dpdkx/daemon/metrics_server.h \
	prov/dpdkx/daemon/module_file.cpp \
	prov/dpdkx/daemon/module_file.h \
	prov/dpdkx/daemon/notify.cpp \
	prov/dpdkx/daemon/notify.h \
	prov/dpdkx/daemon/option_table.cpp \
	prov/dpdkx/daemon/options.cpp \
	prov/dpdkx/daemon/options.h \
	prov/dpdkx/daemon/own_words.cpp \
	prov/dpdkx/daemon/own_words.h \
	prov/dpdkx/daemon/program.cpp \
	prov/dpdkx/daemon/program.h \
	prov/dpdkx/daemon/serve.cpp \
	prov/dpdkx/daemon/serve.h \
	prov/dpdkx/daemon/service.h \
	prov/dpdkx/daemon/signals.cpp \
	prov/dpdkx/daemon/signals.h \
	prov/dpdkx/daemon/status_text.cpp \
	prov/dpdkx/daemon/status_text.h
