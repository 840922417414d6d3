EXTRA_DIST += \
	fabtests/test_configs/dpdkx/dpdkx.test \
	fabtests/test_configs/dpdkx/stress.json \
	fabtests/test_configs/dpdkx/messages.list \
	fabtests/test_configs/dpdkx/run-fabtests
