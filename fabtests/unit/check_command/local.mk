unit_check_command_sources = \
	fabtests/unit/check_command/device.cpp \
	fabtests/unit/check_command/hosts.cpp \
	fabtests/unit/check_command/options.cpp \
	fabtests/unit/check_command/report.cpp \
	fabtests/unit/daemon/text.h \
	fabtests/unit/link_daemon/harness.cpp \
	fabtests/unit/link_daemon/harness.h \
	fabtests/unit/link_daemon/record.h
