"""What to ask next: one file per method."""

from cobras.methods.protocol import Method, Reconsider, Step, Steps

__all__ = ["Method", "Reconsider", "Step", "Steps"]
