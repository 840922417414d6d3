engine_sources = \
	prov/dpdkx/engine/address_table.h \
	prov/dpdkx/engine/config.h \
	prov/dpdkx/engine/conn.h \
	prov/dpdkx/engine/conn_table.h \
	prov/dpdkx/engine/connect.cpp \
	prov/dpdkx/engine/connection.cpp \
	prov/dpdkx/engine/datagram.cpp \
	prov/dpdkx/engine/endpoint.cpp \
	prov/dpdkx/engine/endpoint.h \
	prov/dpdkx/engine/fail.cpp \
	prov/dpdkx/engine/impl.h \
	prov/dpdkx/engine/probe.cpp \
	prov/dpdkx/engine/receive.cpp \
	prov/dpdkx/engine/service.cpp \
	prov/dpdkx/engine/telling.h \
	prov/dpdkx/engine/timers.h \
	prov/dpdkx/engine/transmit.cpp \
	prov/dpdkx/engine/turn.cpp \
	prov/dpdkx/engine/work_list.h
