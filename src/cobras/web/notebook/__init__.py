"""The page in a notebook: in a frame, with messages in place of a server."""
