"""What one command adds to the public side: signed files, events, sealed batteries."""
