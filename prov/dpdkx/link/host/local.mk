link_host_sources = \
	prov/dpdkx/link/link.h \
	prov/dpdkx/link/host/events.cpp \
	prov/dpdkx/link/host/fork_guard.cpp \
	prov/dpdkx/link/host/fork_guard.h \
	prov/dpdkx/link/host/handshake.cpp \
	prov/dpdkx/link/host/handshake.h \
	prov/dpdkx/link/host/host_link.h \
	prov/dpdkx/link/host/host_port.cpp \
	prov/dpdkx/link/host/host_port.h \
	prov/dpdkx/link/host/local_addresses.cpp \
	prov/dpdkx/link/host/local_addresses.h \
	prov/dpdkx/link/host/names.cpp \
	prov/dpdkx/link/host/names.h \
	prov/dpdkx/link/host/ordering.cpp \
	prov/dpdkx/link/host/ordering.h \
	prov/dpdkx/link/host/path.h \
	prov/dpdkx/link/host/paths.cpp \
	prov/dpdkx/link/host/pull.cpp \
	prov/dpdkx/link/host/pull.h \
	prov/dpdkx/link/host/ring.h \
	prov/dpdkx/link/host/segment.cpp \
	prov/dpdkx/link/host/segment.h \
	prov/dpdkx/link/host/unix_socket.cpp \
	prov/dpdkx/link/host/unix_socket.h \
	prov/dpdkx/link/host/wait.cpp
