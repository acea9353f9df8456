"""The page, the widget and boards: how long a person waits for the next question."""
