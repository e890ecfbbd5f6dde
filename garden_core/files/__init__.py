"""Reading and writing files: formats, arrays, data files of games, whole or not at all."""
