unit_face_sources = \
	fabtests/unit/face/address_format.cpp \
	fabtests/unit/face/background.cpp \
	fabtests/unit/face/domain.cpp \
	fabtests/unit/face/endpoint_set.cpp \
	fabtests/unit/face/ep.cpp \
	fabtests/unit/face/ep_atomic.cpp \
	fabtests/unit/face/ep_rma.cpp \
	fabtests/unit/face/face.cpp \
	fabtests/unit/face/face.h \
	fabtests/unit/face/getinfo.cpp \
	fabtests/unit/face/key_digest.cpp \
	fabtests/unit/face/nic.cpp \
	fabtests/unit/face/op_flags.cpp \
	fabtests/unit/face/settings.cpp
