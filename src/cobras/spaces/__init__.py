"""How data is cut: spaces split super-instances, name representatives and measure distances."""
