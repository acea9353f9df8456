"""Questions and answers in a terminal."""
