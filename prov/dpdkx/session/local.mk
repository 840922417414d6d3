session_sources = \
	prov/dpdkx/session/congestion.cpp \
	prov/dpdkx/session/congestion.h \
	prov/dpdkx/session/gate.cpp \
	prov/dpdkx/session/gate.h \
	prov/dpdkx/session/handshake.cpp \
	prov/dpdkx/session/handshake.h \
	prov/dpdkx/session/params.h \
	prov/dpdkx/session/receive_window.cpp \
	prov/dpdkx/session/receive_window.h \
	prov/dpdkx/session/rtt.cpp \
	prov/dpdkx/session/rtt.h \
	prov/dpdkx/session/send_window.cpp \
	prov/dpdkx/session/send_window.h \
	prov/dpdkx/session/session.cpp \
	prov/dpdkx/session/session.h \
	prov/dpdkx/session/session_handshake.cpp \
	prov/dpdkx/session/session_timers.cpp \
	prov/dpdkx/session/siphash.h \
	prov/dpdkx/session/tx_packet.h \
	prov/dpdkx/session/window.cpp \
	prov/dpdkx/session/window.h
