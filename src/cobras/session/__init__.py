"""A person, or an oracle, answers: session, history, replay, journal on disk, oracles, thinking ahead."""
