"""Games and agents as WebAssembly modules: the same compiled functions, for browsers and other hosts without Python."""
