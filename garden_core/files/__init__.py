"""Everything that is read from disk: replays, datasets, recordings, data files of games."""
