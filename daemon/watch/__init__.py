"""Files and watched folders: what is read of them, and when."""
