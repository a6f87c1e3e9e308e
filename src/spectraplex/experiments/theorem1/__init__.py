"""The paper's theorem: average error over many seeds against its three bounds."""
