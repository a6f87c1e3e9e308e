"""The paper's comparison table, measured: work to reach an accuracy, by dimension and conditioning."""
