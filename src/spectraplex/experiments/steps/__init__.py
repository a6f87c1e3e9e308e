"""What a step costs: rank-one-regularised steps against conditional-gradient steps, at equal accuracy."""
