unit_collc_rt_sources = \
	fabtests/unit/collc_rt/collective.cpp \
	fabtests/unit/collc_rt/combine.cpp \
	fabtests/unit/collc_rt/plan.cpp
