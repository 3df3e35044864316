"""The tabs of the page Folders: watched folders, reading, models, health."""
