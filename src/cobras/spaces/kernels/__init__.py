"""Compiled loops, named by algorithm."""
