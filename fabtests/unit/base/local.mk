unit_base_sources =
