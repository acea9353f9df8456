"""Tables too large to be read as others are: without a copy, piece by piece, or on other machines."""
