unit_op_sources =
