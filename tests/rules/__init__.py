"""The repository's rules, one small function each, and what their own tests need."""
