"""The words that all other folders speak: answers, constraints, partitions, errors."""
