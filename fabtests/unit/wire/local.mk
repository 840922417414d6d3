unit_wire_sources =
