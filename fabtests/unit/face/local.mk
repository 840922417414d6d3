unit_face_sources =
