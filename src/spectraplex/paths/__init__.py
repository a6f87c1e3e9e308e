"""Solutions for a whole range of radii or penalties, each with its certificate."""
