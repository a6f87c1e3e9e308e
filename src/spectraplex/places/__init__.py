"""Where tall things live: this machine's arrays, kernels and threads."""
