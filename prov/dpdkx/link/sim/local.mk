link_sim_sources = \
	prov/dpdkx/link/sim/core.h \
	prov/dpdkx/link/sim/network.cpp \
	prov/dpdkx/link/sim/network.h \
	prov/dpdkx/link/sim/packet_pool.cpp \
	prov/dpdkx/link/sim/packet_pool.h \
	prov/dpdkx/link/sim/paths.cpp \
	prov/dpdkx/link/sim/port.cpp \
	prov/dpdkx/link/sim/port.h \
	prov/dpdkx/link/sim/profile.h \
	prov/dpdkx/link/sim/random.h \
	prov/dpdkx/link/sim/rx_queues.cpp \
	prov/dpdkx/link/sim/rx_queues.h \
	prov/dpdkx/link/sim/switch.cpp \
	prov/dpdkx/link/sim/virtual_clock.h
