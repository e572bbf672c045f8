"""A course on Mamba, and on the CLS token in it: the general form of what the notebooks build."""
