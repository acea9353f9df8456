"""The scikit-learn face: labels, or a function, play the person."""
