"""NPU: normalised point-based uncertainty."""
