unit_session_sources = \
	fabtests/unit/session/congestion.cpp \
	fabtests/unit/session/gate.cpp \
	fabtests/unit/session/net.cpp \
	fabtests/unit/session/net.h \
	fabtests/unit/session/network.cpp \
	fabtests/unit/session/receive_window.cpp \
	fabtests/unit/session/rtt.cpp \
	fabtests/unit/session/send_window.cpp \
	fabtests/unit/session/session.cpp \
	fabtests/unit/session/session_handshake.cpp \
	fabtests/unit/session/session_timers.cpp \
	fabtests/unit/session/side.h \
	fabtests/unit/session/siphash.cpp
