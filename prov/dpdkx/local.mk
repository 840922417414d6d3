face_sources =
