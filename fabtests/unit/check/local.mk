unit_check_sources = \
	fabtests/unit/check/lab.h \
	fabtests/unit/check/prober.cpp \
	fabtests/unit/check/responder.cpp \
	fabtests/unit/check/result.cpp \
	fabtests/unit/check/run.cpp
