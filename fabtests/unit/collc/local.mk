unit_collc_sources = \
	fabtests/unit/collc/atomics.cpp \
	fabtests/unit/collc/builtin.cpp \
	fabtests/unit/collc/check.cpp \
	fabtests/unit/collc/compiled.h \
	fabtests/unit/collc/evaluate.cpp \
	fabtests/unit/collc/expand.cpp \
	fabtests/unit/collc/goal.cpp \
	fabtests/unit/collc/graph.cpp \
	fabtests/unit/collc/landing.cpp \
	fabtests/unit/collc/lexer.cpp \
	fabtests/unit/collc/library.cpp \
	fabtests/unit/collc/lower.cpp \
	fabtests/unit/collc/memory.cpp \
	fabtests/unit/collc/parser.cpp \
	fabtests/unit/collc/plan.cpp \
	fabtests/unit/collc/program.cpp \
	fabtests/unit/collc/resources.cpp \
	fabtests/unit/collc/reuse.cpp \
	fabtests/unit/collc/simulate.cpp \
	fabtests/unit/collc/slow_simulation.cpp \
	fabtests/unit/collc/slow_simulation.h \
	fabtests/unit/collc/table.cpp
