"""Rows on other machines."""
