unit_net_sources =
