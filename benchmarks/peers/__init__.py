"""Beside the authors' own package, scikit-learn and active-semi-supervised-clustering: speed and quality."""
