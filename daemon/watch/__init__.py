"""Files and watched folders: what is read, and when."""
