op_sources = \
	prov/dpdkx/op/arrive.cpp \
	prov/dpdkx/op/completers.h \
	prov/dpdkx/op/credit.cpp \
	prov/dpdkx/op/memory.cpp \
	prov/dpdkx/op/messenger.h \
	prov/dpdkx/op/ops.h \
	prov/dpdkx/op/outlet.h \
	prov/dpdkx/op/peer.h \
	prov/dpdkx/op/peers.cpp \
	prov/dpdkx/op/receive.cpp \
	prov/dpdkx/op/rendezvous.cpp \
	prov/dpdkx/op/request.h \
	prov/dpdkx/op/send.cpp
