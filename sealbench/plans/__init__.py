"""Plans for a person to read and change, before they are frozen."""
