unit_base_sources = \
	fabtests/unit/base/address.cpp \
	fabtests/unit/base/burst_lock.cpp \
	fabtests/unit/base/clock.cpp \
	fabtests/unit/base/cpus.cpp \
	fabtests/unit/base/idle.cpp \
	fabtests/unit/base/list.cpp \
	fabtests/unit/base/log.cpp \
	fabtests/unit/base/seq.cpp \
	fabtests/unit/base/setting_value.cpp \
	fabtests/unit/base/slab.cpp \
	fabtests/unit/base/thread.cpp
