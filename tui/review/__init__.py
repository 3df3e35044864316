"""The page of changed facts: old and new next to each other, and the person's verdict."""
