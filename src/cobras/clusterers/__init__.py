"""Passive constrained clusterers: they take must-links and cannot-links as they come."""
