"""Records in tensors, which stay on their device."""
