"""What of this holds for my model? Every claim of examples and lessons put to any model, by `tx_core.classroom.claims`."""
