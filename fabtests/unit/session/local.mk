unit_session_sources =
