unit_link_ethdev_sources = \
	fabtests/unit/link_ethdev/arguments.cpp \
	fabtests/unit/link_ethdev/bulk_port.cpp \
	fabtests/unit/link_ethdev/dscp.cpp \
	fabtests/unit/link_ethdev/fake_rules.h \
	fabtests/unit/link_ethdev/faults.cpp \
	fabtests/unit/link_ethdev/footprint.cpp \
	fabtests/unit/link_ethdev/hosts.cpp \
	fabtests/unit/link_ethdev/hosts.h \
	fabtests/unit/link_ethdev/ingress_drop.cpp \
	fabtests/unit/link_ethdev/joined.cpp \
	fabtests/unit/link_ethdev/memif.cpp \
	fabtests/unit/link_ethdev/no_memory.cpp \
	fabtests/unit/link_ethdev/queue_plan.cpp \
	fabtests/unit/link_ethdev/queue_rota.cpp \
	fabtests/unit/link_ethdev/queues.cpp \
	fabtests/unit/link_ethdev/resolution.cpp \
	fabtests/unit/link_ethdev/steering.cpp \
	fabtests/unit/link_ethdev/traffic.cpp \
	fabtests/unit/link_ethdev/xdp_queues.cpp \
	fabtests/unit/op/allocations.cpp \
	fabtests/unit/op/allocations.h \
	prov/dpdkx/link/ethdev/loader.cpp
