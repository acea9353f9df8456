"""Tables: files in many formats, and what their columns are."""
