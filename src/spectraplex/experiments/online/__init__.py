"""Online learners: regret against the theory's bound, on ratings as they came and on a stream that drifts."""
