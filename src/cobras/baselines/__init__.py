"""What the COBRAS paper compares with."""
