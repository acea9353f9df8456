"""COBS: select a clustering from a pool."""
