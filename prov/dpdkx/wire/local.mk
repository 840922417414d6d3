wire_sources = \
	prov/dpdkx/wire/bytes.h \
	prov/dpdkx/wire/checksum.cpp \
	prov/dpdkx/wire/codec_inl.h \
	prov/dpdkx/wire/extensions.h \
	prov/dpdkx/wire/handshake.cpp \
	prov/dpdkx/wire/handshake.h \
	prov/dpdkx/wire/packet.cpp \
	prov/dpdkx/wire/packet.h \
	prov/dpdkx/wire/probe.cpp \
	prov/dpdkx/wire/probe.h

EXTRA_DIST += prov/dpdkx/wire/protocol.md
