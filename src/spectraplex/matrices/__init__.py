"""What X is (atoms, factors) and what a gradient is (operators, and the same upstairs)."""
