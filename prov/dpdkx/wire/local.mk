wire_sources = \
	prov/dpdkx/wire/bytes.h \
	prov/dpdkx/wire/checksum.cpp \
	prov/dpdkx/wire/codec_inl.h \
	prov/dpdkx/wire/handshake.cpp \
	prov/dpdkx/wire/handshake.h \
	prov/dpdkx/wire/packet.cpp \
	prov/dpdkx/wire/packet.h

EXTRA_DIST += prov/dpdkx/wire/protocol.md
