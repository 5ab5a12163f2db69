"""A run at work: which calls are open, the endpoints ready to be called, the crash-safe journal."""
