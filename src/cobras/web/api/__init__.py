"""The end points under /api."""
