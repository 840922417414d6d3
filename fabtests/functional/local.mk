# Programs that test a provider through the libfabric API alone. `run` starts
# them one after the other, for the provider that it is given.

functional_names = msg order tagged unexpected
functional_programs = $(functional_names:%=fabtests/functional/%)

check_LTLIBRARIES = libfabtests.la
libfabtests_la_SOURCES = \
	fabtests/common/channel.cpp fabtests/common/channel.h \
	fabtests/common/check.cpp fabtests/common/check.h \
	fabtests/common/completion.cpp fabtests/common/completion.h \
	fabtests/common/endpoint.cpp fabtests/common/endpoint.h \
	fabtests/common/fids.h \
	fabtests/common/forms.cpp fabtests/common/forms.h \
	fabtests/common/hub.cpp fabtests/common/hub.h \
	fabtests/common/launcher.cpp fabtests/common/launcher.h \
	fabtests/common/payload.cpp fabtests/common/payload.h \
	fabtests/common/progress.cpp fabtests/common/progress.h \
	fabtests/common/rank_process.cpp fabtests/common/rank_process.h \
	fabtests/common/settings.cpp fabtests/common/settings.h \
	fabtests/common/team.cpp fabtests/common/team.h
