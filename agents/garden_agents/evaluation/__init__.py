"""The scale: ratings, the fields of the tasks, and what places agents on it or compares them."""
