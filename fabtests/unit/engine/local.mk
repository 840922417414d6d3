unit_engine_sources =
