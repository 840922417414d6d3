unit_link_daemon_sources = \
	fabtests/unit/link_daemon/client.cpp \
	fabtests/unit/link_daemon/harness.cpp \
	fabtests/unit/link_daemon/harness.h \
	fabtests/unit/link_daemon/messages.cpp \
	fabtests/unit/link_daemon/port.cpp \
	fabtests/unit/link_daemon/port_life.cpp \
	fabtests/unit/link_daemon/port_wait.cpp \
	fabtests/unit/link_daemon/record.h
