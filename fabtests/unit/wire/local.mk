unit_wire_sources = \
	fabtests/unit/wire/any.h \
	fabtests/unit/wire/checksum.cpp \
	fabtests/unit/wire/frames.h \
	fabtests/unit/wire/handshake.cpp \
	fabtests/unit/wire/packet.cpp \
	fabtests/unit/wire/packet_connection.cpp \
	fabtests/unit/wire/packet_counter.cpp \
	fabtests/unit/wire/packet_rma.cpp \
	fabtests/unit/wire/probe.cpp \
	fabtests/unit/wire/protocol.cpp
