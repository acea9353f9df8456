"""Where points lie, and how they are related."""
