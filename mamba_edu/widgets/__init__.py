"""Things to play with: each is a still picture too."""
