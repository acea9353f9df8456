"""What all other folders use: answers, constraints, partitions, progress, checks, errors, writers."""
