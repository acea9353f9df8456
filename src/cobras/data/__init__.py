"""Files to data sets and back: reading, showing, exporting."""

from cobras.data.dataset import Card, Dataset, Picture, Row, Series, Text, load_demo
from cobras.data.export import export_dataset
from cobras.data.items.images import Photo
from cobras.data.newitems import read_features
from cobras.data.overview import ColumnInfo, Comparison
from cobras.data.read import read_dataset
from cobras.data.resume import read_recipe

__all__ = ["Card", "ColumnInfo", "Comparison", "Dataset", "Photo", "Picture", "Row", "Series", "Text"]
__all__ += ["export_dataset", "load_demo", "read_dataset", "read_features", "read_recipe"]
