"""Learning from features: classes, tasks, metrics and kernels, with certificates."""
