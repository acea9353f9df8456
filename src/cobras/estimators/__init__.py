"""Estimators of scikit-learn, in which labels or a function answer in place of a person."""
