"""Files to data sets and back: reading, showing, exporting."""

from cobras.data.bundled import load_demo
from cobras.data.dataset import Card, Dataset, Picture, Row
from cobras.data.export import export_labels
from cobras.data.readers import read_dataset, read_recipe
from cobras.data.writers import write_table

__all__ = [
    "Card",
    "Dataset",
    "Picture",
    "Row",
    "export_labels",
    "load_demo",
    "read_dataset",
    "read_recipe",
    "write_table",
]
