dist_man_MANS += man/fi_dpdkx.7
