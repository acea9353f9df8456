"""What the COBRAS paper compares with or cites: COBS, NPU, Explore-Consolidate, Min-Max, constrained clusterers."""
