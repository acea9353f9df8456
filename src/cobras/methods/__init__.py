"""What to ask next: one file per method."""
