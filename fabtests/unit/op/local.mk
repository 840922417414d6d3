unit_op_sources = \
	fabtests/harness/calls.h \
	fabtests/harness/idle_domain.h \
	fabtests/unit/op/allocations.cpp \
	fabtests/unit/op/allocations.h \
	fabtests/unit/op/calls.cpp \
	fabtests/unit/op/calls.h \
	fabtests/unit/op/arrive.cpp \
	fabtests/unit/op/atomic.cpp \
	fabtests/unit/op/atomic_types.h \
	fabtests/unit/op/connection.cpp \
	fabtests/unit/op/connection_frames.cpp \
	fabtests/unit/op/counter.cpp \
	fabtests/unit/op/credit.cpp \
	fabtests/unit/op/fail.cpp \
	fabtests/unit/op/lab.cpp \
	fabtests/unit/op/lab.h \
	fabtests/unit/op/memory.cpp \
	fabtests/unit/op/model.cpp \
	fabtests/unit/op/order.cpp \
	fabtests/unit/op/peers.cpp \
	fabtests/unit/op/receive.cpp \
	fabtests/unit/op/rendezvous.cpp \
	fabtests/unit/op/remote.h \
	fabtests/unit/op/rma.cpp \
	fabtests/unit/op/send.cpp \
	fabtests/unit/op/small_float.cpp

# In a program of its own, for check-tsan, which needs no more of this room's.
unit_op_threads_sources = \
	fabtests/unit/op/atomic_threads.cpp \
	fabtests/unit/op/atomic_types.h
