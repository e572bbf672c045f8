"""Classifiers of sequences: tokens, blocks, a read-out and a head."""

from mamba_edu.models.classifier import SequenceClassifier
from mamba_edu.models.streaming import StreamState
from mamba_edu.models.transformer import AttentionBlock, AttentionStack, TransformerClassifier

__all__ = [
    "AttentionBlock",
    "AttentionStack",
    "SequenceClassifier",
    "StreamState",
    "TransformerClassifier",
]
