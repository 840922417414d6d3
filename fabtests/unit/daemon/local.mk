unit_dpdkxd_sources = \
	fabtests/unit/daemon/captured.cpp \
	fabtests/unit/daemon/captured.h \
	fabtests/unit/daemon/check.cpp \
	fabtests/unit/daemon/command_line.cpp \
	fabtests/unit/daemon/config_file.cpp \
	fabtests/unit/daemon/console.cpp \
	fabtests/unit/daemon/endpoint_text.cpp \
	fabtests/unit/daemon/example.h \
	fabtests/unit/daemon/fake_service.h \
	fabtests/unit/daemon/metrics.cpp \
	fabtests/unit/daemon/metrics_server.cpp \
	fabtests/unit/daemon/notify.cpp \
	fabtests/unit/daemon/notify_socket.h \
	fabtests/unit/daemon/options.cpp \
	fabtests/unit/daemon/own_words.cpp \
	fabtests/unit/daemon/program.cpp \
	fabtests/unit/daemon/signals.cpp \
	fabtests/unit/daemon/status_json.cpp \
	fabtests/unit/daemon/status_text.cpp \
	fabtests/unit/daemon/text.h

unit_daemon_sources = \
	fabtests/harness/hub.h \
	fabtests/harness/passing.h \
	fabtests/unit/daemon/acknowledger.cpp \
	fabtests/unit/daemon/attachment.cpp \
	fabtests/unit/daemon/check_port.cpp \
	fabtests/unit/daemon/daemon.cpp \
	fabtests/unit/daemon/fakes.h \
	fabtests/unit/daemon/server.cpp
