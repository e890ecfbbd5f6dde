"""What only a GPU needs: the target of a batch, its kernels, the copies of records, and a cache of compiled kernels."""
