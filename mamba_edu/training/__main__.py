"""Train the classifiers that the course ships and store them: python -m mamba_edu.training."""

from mamba_edu.training.checkpoint import NEEDLES, save_checkpoint, train_needle


def store_needles() -> None:
    """Train each with seed 0 and replace its shipped file."""
    for blocks, (path, _, sizes) in NEEDLES.items():
        save_checkpoint(train_needle(0, blocks), sizes, path)
        print(f"{path.name}: trained and stored.")


if __name__ == "__main__":
    store_needles()
