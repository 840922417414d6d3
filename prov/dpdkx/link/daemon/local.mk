link_daemon_sources = \
	prov/dpdkx/link/daemon/channel.h \
	prov/dpdkx/link/daemon/client.cpp \
	prov/dpdkx/link/daemon/client.h \
	prov/dpdkx/link/daemon/device.h \
	prov/dpdkx/link/daemon/messages.cpp \
	prov/dpdkx/link/daemon/messages.h \
	prov/dpdkx/link/daemon/port.cpp \
	prov/dpdkx/link/daemon/port.h \
	prov/dpdkx/link/daemon/port_life.cpp \
	prov/dpdkx/link/daemon/port_wait.cpp \
	prov/dpdkx/link/daemon/record.h
