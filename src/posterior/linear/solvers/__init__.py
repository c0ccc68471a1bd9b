"""Ways to minimise an objective; one file each."""
