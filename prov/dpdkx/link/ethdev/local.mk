link_ethdev_sources = \
	prov/dpdkx/link/ethdev/claim.cpp \
	prov/dpdkx/link/ethdev/claim.h \
	prov/dpdkx/link/ethdev/device.cpp \
	prov/dpdkx/link/ethdev/device.h \
	prov/dpdkx/link/ethdev/dpdk_nic.cpp \
	prov/dpdkx/link/ethdev/dpdk_nic.h \
	prov/dpdkx/link/ethdev/eal.cpp \
	prov/dpdkx/link/ethdev/eal.h \
	prov/dpdkx/link/ethdev/flow_rules.h \
	prov/dpdkx/link/ethdev/group_membership.cpp \
	prov/dpdkx/link/ethdev/group_membership.h \
	prov/dpdkx/link/ethdev/group_table.cpp \
	prov/dpdkx/link/ethdev/group_table.h \
	prov/dpdkx/link/ethdev/inbox.h \
	prov/dpdkx/link/ethdev/ingress_drop.cpp \
	prov/dpdkx/link/ethdev/ingress_drop.h \
	prov/dpdkx/link/ethdev/module.cpp \
	prov/dpdkx/link/ethdev/module.h \
	prov/dpdkx/link/ethdev/nic.cpp \
	prov/dpdkx/link/ethdev/nic.h \
	prov/dpdkx/link/ethdev/packet_nic.cpp \
	prov/dpdkx/link/ethdev/packet_nic.h \
	prov/dpdkx/link/ethdev/packet_pool.cpp \
	prov/dpdkx/link/ethdev/packet_pool.h \
	prov/dpdkx/link/ethdev/packet_socket.cpp \
	prov/dpdkx/link/ethdev/packet_socket.h \
	prov/dpdkx/link/ethdev/peer_index.h \
	prov/dpdkx/link/ethdev/port.cpp \
	prov/dpdkx/link/ethdev/port.h \
	prov/dpdkx/link/ethdev/port_guard.cpp \
	prov/dpdkx/link/ethdev/port_guard.h \
	prov/dpdkx/link/ethdev/port_wait.cpp \
	prov/dpdkx/link/ethdev/queue_plan.cpp \
	prov/dpdkx/link/ethdev/queue_plan.h \
	prov/dpdkx/link/ethdev/queue_rota.h \
	prov/dpdkx/link/ethdev/quiet.cpp \
	prov/dpdkx/link/ethdev/quiet.h \
	prov/dpdkx/link/ethdev/rte_flow_rules.cpp \
	prov/dpdkx/link/ethdev/rte_flow_rules.h \
	prov/dpdkx/link/ethdev/steering.cpp \
	prov/dpdkx/link/ethdev/steering.h \
	prov/dpdkx/link/ethdev/tap_socket.cpp \
	prov/dpdkx/link/ethdev/tap_socket.h

# For the provider, which links no DPDK: finds and loads the module above.
link_ethdev_loader_sources = \
	prov/dpdkx/link/ethdev/claim.cpp \
	prov/dpdkx/link/ethdev/claim.h \
	prov/dpdkx/link/ethdev/loader.cpp \
	prov/dpdkx/link/ethdev/loader.h \
	prov/dpdkx/link/ethdev/module.h
