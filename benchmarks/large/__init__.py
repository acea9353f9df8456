"""Much data: how long a person waits, what is read and sent, and what new rows cost."""
