op_sources = \
	prov/dpdkx/op/arrive.cpp \
	prov/dpdkx/op/atomic.cpp \
	prov/dpdkx/op/atomic.h \
	prov/dpdkx/op/completers.h \
	prov/dpdkx/op/connection.cpp \
	prov/dpdkx/op/connection.h \
	prov/dpdkx/op/counter.cpp \
	prov/dpdkx/op/credit.cpp \
	prov/dpdkx/op/datagram.cpp \
	prov/dpdkx/op/memory.cpp \
	prov/dpdkx/op/messenger.h \
	prov/dpdkx/op/messenger_connection.cpp \
	prov/dpdkx/op/ops.h \
	prov/dpdkx/op/outlet.h \
	prov/dpdkx/op/peer.h \
	prov/dpdkx/op/peers.cpp \
	prov/dpdkx/op/reach.cpp \
	prov/dpdkx/op/reach.h \
	prov/dpdkx/op/receive.cpp \
	prov/dpdkx/op/receives.cpp \
	prov/dpdkx/op/receives.h \
	prov/dpdkx/op/rendezvous.cpp \
	prov/dpdkx/op/request.h \
	prov/dpdkx/op/rma.cpp \
	prov/dpdkx/op/send.cpp \
	prov/dpdkx/op/small_float.h \
	prov/dpdkx/op/target.cpp
