"""The files of a training run, and their page."""
