"""Estimators that learn: metrics, kernels, many classes, many tasks."""
