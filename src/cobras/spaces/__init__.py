"""How the data is cut: a space splits super-instances, names representatives and measures distances."""
