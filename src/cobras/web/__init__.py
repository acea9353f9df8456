"""The web page: the same session behind typed end points, on the person's own machine."""
