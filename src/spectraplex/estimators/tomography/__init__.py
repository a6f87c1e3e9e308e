"""From counts to a state with error bars."""
