EXTRA_DIST += \
	fabtests/test_configs/dpdkx/connected.test \
	fabtests/test_configs/dpdkx/dpdkx.test \
	fabtests/test_configs/dpdkx/modes.test \
	fabtests/test_configs/dpdkx/stress.json \
	fabtests/test_configs/dpdkx/messages.list \
	fabtests/test_configs/dpdkx/run-fabtests
