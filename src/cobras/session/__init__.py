"""A person, or an oracle, answers: journal, replay, undo, resume."""
