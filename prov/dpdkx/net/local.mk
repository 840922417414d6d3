net_sources = \
	prov/dpdkx/net/bytes.h \
	prov/dpdkx/net/checksum.cpp \
	prov/dpdkx/net/checksum.h \
	prov/dpdkx/net/describe.cpp \
	prov/dpdkx/net/describe.h \
	prov/dpdkx/net/device_spec.cpp \
	prov/dpdkx/net/device_spec.h \
	prov/dpdkx/net/flat_map.h \
	prov/dpdkx/net/frame.cpp \
	prov/dpdkx/net/frame.h \
	prov/dpdkx/net/ipv4.cpp \
	prov/dpdkx/net/ipv4.h \
	prov/dpdkx/net/kernel_interface.cpp \
	prov/dpdkx/net/kernel_interface.h \
	prov/dpdkx/net/mac.cpp \
	prov/dpdkx/net/mac.h \
	prov/dpdkx/net/neighbour.cpp \
	prov/dpdkx/net/neighbour.h \
	prov/dpdkx/net/pci_device.cpp \
	prov/dpdkx/net/pci_device.h \
	prov/dpdkx/net/text.h \
	prov/dpdkx/net/vdev_arguments.cpp \
	prov/dpdkx/net/vdev_arguments.h
