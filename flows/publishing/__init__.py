"""Publishing a split: the benchmark's own format, a Hugging Face data set, its removals, a version and a signature."""
