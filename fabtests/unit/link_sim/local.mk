unit_link_sim_sources = \
	fabtests/unit/link_sim/lab.h \
	fabtests/unit/link_sim/network.cpp \
	fabtests/unit/link_sim/packet_pool.cpp \
	fabtests/unit/link_sim/paths.cpp \
	fabtests/unit/link_sim/port.cpp \
	fabtests/unit/link_sim/rx_queues.cpp \
	fabtests/unit/link_sim/switch.cpp
