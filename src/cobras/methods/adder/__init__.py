"""ADDER, our own method."""
