base_sources = \
	prov/dpdkx/base/address.cpp \
	prov/dpdkx/base/address.h \
	prov/dpdkx/base/burst_lock.h \
	prov/dpdkx/base/clock.cpp \
	prov/dpdkx/base/clock.h \
	prov/dpdkx/base/cpus.cpp \
	prov/dpdkx/base/cpus.h \
	prov/dpdkx/base/idle.h \
	prov/dpdkx/base/list.h \
	prov/dpdkx/base/log.cpp \
	prov/dpdkx/base/log.h \
	prov/dpdkx/base/room.h \
	prov/dpdkx/base/seq.h \
	prov/dpdkx/base/setting_value.cpp \
	prov/dpdkx/base/setting_value.h \
	prov/dpdkx/base/slab.h \
	prov/dpdkx/base/thread.cpp \
	prov/dpdkx/base/thread.h
