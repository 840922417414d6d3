unit_link_ethdev_sources =
