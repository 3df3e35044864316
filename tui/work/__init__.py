"""The tabs of the page Folders: what is watched, what is read, by which models, and what is wrong."""
