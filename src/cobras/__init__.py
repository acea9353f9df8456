"""Cluster data the way you mean it: answer a few same-or-different questions."""
