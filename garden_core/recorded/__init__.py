"""Games that were played: replays, films of them, datasets, and the folder that an environment records into."""
