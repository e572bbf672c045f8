"""The course in a real browser; kept out of the unit tests by its folder."""
