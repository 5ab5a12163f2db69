"""Files of other people brought here: downloaded, unpacked or cloned, with nothing of them ever run."""
