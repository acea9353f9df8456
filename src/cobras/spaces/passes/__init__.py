"""K-means on more rows than one likes to read twice."""
