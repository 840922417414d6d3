dist_man_MANS += man/fi_dpdkx.7 man/fi_dpdkx_cntr.3 man/fi_dpdkx_emulation.3

if ENABLE_DAEMON
dist_man_MANS += man/dpdkx-check.8 man/dpdkxd.8
endif
