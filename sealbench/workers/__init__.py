"""Other processes that do work for this one: a pool of executors, and the clusters they come from."""
