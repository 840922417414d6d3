unit_engine_sources = \
	fabtests/harness/calls.h \
	fabtests/harness/forwarding_port.h \
	fabtests/harness/idle_domain.h \
	fabtests/unit/engine/address_table.cpp \
	fabtests/unit/engine/alias.cpp \
	fabtests/unit/engine/conn_table.cpp \
	fabtests/unit/engine/connect.cpp \
	fabtests/unit/engine/connection.cpp \
	fabtests/unit/engine/datagram.cpp \
	fabtests/unit/engine/endpoint.cpp \
	fabtests/unit/engine/fail.cpp \
	fabtests/unit/engine/lab.cpp \
	fabtests/unit/engine/lab.h \
	fabtests/unit/engine/no_memory.cpp \
	fabtests/unit/engine/probe.cpp \
	fabtests/unit/engine/receive.cpp \
	fabtests/unit/engine/restart.cpp \
	fabtests/unit/engine/service.cpp \
	fabtests/unit/engine/telling.cpp \
	fabtests/unit/engine/timers.cpp \
	fabtests/unit/engine/transmit.cpp \
	fabtests/unit/engine/turn.cpp \
	fabtests/unit/op/allocations.cpp \
	fabtests/unit/op/allocations.h \
	fabtests/unit/op/calls.cpp \
	fabtests/unit/op/calls.h
