# The commands of the schedule compiler.
dist_check_SCRIPTS += fabtests/collc/run fabtests/collc/run-processes \
	fabtests/collc/run-guide
TESTS += fabtests/collc/run fabtests/collc/run-processes \
	fabtests/collc/run-guide
