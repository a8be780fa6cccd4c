"""From findings to keep, drop or review, and to a cleaned split."""
