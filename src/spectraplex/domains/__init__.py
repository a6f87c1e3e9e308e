"""The sets and penalties, and the lift of each to matrices that are positive semidefinite."""
