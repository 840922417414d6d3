# The command of the schedule compiler.
dist_check_SCRIPTS += fabtests/collc/run
TESTS += fabtests/collc/run
