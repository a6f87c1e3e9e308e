"""How a misfit is paid for: one object a loss, and the curves of a loss along a line."""
