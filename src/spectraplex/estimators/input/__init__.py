"""What people give to an estimator: labels of any kind, and observations in any form."""
