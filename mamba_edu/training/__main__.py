"""Train the classifier that the course ships and store it: python -m mamba_edu.training."""

from mamba_edu.training.checkpoint import NEEDLE, SIZES, save_checkpoint, train_needle


def store_needle() -> None:
    """Train with seed 0 and replace the shipped file."""
    save_checkpoint(train_needle(seed=0), SIZES, NEEDLE)
    print(f"{NEEDLE.name}: trained and stored.")


if __name__ == "__main__":
    store_needle()
