util_ext_sources = \
	prov/util_ext/address.cpp \
	prov/util_ext/address.h \
	prov/util_ext/address_table.cpp \
	prov/util_ext/address_table.h \
	prov/util_ext/av.cpp \
	prov/util_ext/av.h \
	prov/util_ext/chunk_queue.h \
	prov/util_ext/cntr.cpp \
	prov/util_ext/cntr.h \
	prov/util_ext/completion.h \
	prov/util_ext/cq.cpp \
	prov/util_ext/cq.h \
	prov/util_ext/domain.h \
	prov/util_ext/eq.cpp \
	prov/util_ext/eq.h \
	prov/util_ext/err_data.h \
	prov/util_ext/fabric.cpp \
	prov/util_ext/fabric.h \
	prov/util_ext/lock.h \
	prov/util_ext/match.cpp \
	prov/util_ext/match.h \
	prov/util_ext/match_index.h \
	prov/util_ext/ops.h \
	prov/util_ext/wait.cpp \
	prov/util_ext/wait.h
