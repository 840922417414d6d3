unit_util_ext_sources =
