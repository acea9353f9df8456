"""Figures, tables and the check-list of claims."""
