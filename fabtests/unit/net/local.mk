unit_net_sources = \
	fabtests/unit/net/checksum.cpp \
	fabtests/unit/net/describe.cpp \
	fabtests/unit/net/device_spec.cpp \
	fabtests/unit/net/encapsulation.cpp \
	fabtests/unit/net/flat_map.cpp \
	fabtests/unit/net/frame.cpp \
	fabtests/unit/net/frame_ipv6.cpp \
	fabtests/unit/net/groups.cpp \
	fabtests/unit/net/ip.cpp \
	fabtests/unit/net/ipv4.cpp \
	fabtests/unit/net/joined.cpp \
	fabtests/unit/net/kernel_interface.cpp \
	fabtests/unit/net/libibverbs.cpp \
	fabtests/unit/net/mac.cpp \
	fabtests/unit/net/neighbour.cpp \
	fabtests/unit/net/pci_device.cpp \
	fabtests/unit/net/rdma_device.cpp \
	fabtests/unit/net/routes.cpp \
	fabtests/unit/net/sysfs_device.cpp \
	fabtests/unit/net/sysfs_tree.h \
	fabtests/unit/net/vdev_arguments.cpp \
	fabtests/unit/op/allocations.cpp \
	fabtests/unit/op/allocations.h
