unit_collc_sources = \
	fabtests/unit/collc/check.cpp \
	fabtests/unit/collc/compiled.h \
	fabtests/unit/collc/evaluate.cpp \
	fabtests/unit/collc/expand.cpp \
	fabtests/unit/collc/lexer.cpp \
	fabtests/unit/collc/memory.cpp \
	fabtests/unit/collc/parser.cpp \
	fabtests/unit/collc/resources.cpp \
	fabtests/unit/collc/table.cpp
