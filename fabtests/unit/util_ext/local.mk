unit_util_ext_sources = \
	fabtests/unit/util_ext/address.cpp \
	fabtests/unit/util_ext/address_table.cpp \
	fabtests/unit/util_ext/av.cpp \
	fabtests/unit/util_ext/chunk_queue.cpp \
	fabtests/unit/util_ext/cntr.cpp \
	fabtests/unit/util_ext/cntr_table.cpp \
	fabtests/unit/util_ext/cond_signaller.cpp \
	fabtests/unit/util_ext/cq.cpp \
	fabtests/unit/util_ext/cq_queue.h \
	fabtests/unit/util_ext/cq_wait.cpp \
	fabtests/unit/util_ext/eq.cpp \
	fabtests/unit/util_ext/fabric.cpp \
	fabtests/unit/util_ext/fake.cpp \
	fabtests/unit/util_ext/fake.h \
	fabtests/unit/util_ext/info.cpp \
	fabtests/unit/util_ext/match.cpp \
	fabtests/unit/util_ext/mr.cpp \
	fabtests/unit/util_ext/mr_table.cpp \
	fabtests/unit/util_ext/object.cpp \
	fabtests/unit/util_ext/ops.cpp \
	fabtests/unit/util_ext/poll_set.cpp \
	fabtests/unit/util_ext/random_key.cpp \
	fabtests/unit/util_ext/source_group.cpp \
	fabtests/unit/util_ext/user_ids.cpp \
	fabtests/unit/util_ext/wait.cpp \
	fabtests/unit/util_ext/wait_set.cpp
