"""Classifiers of sequences: tokens, blocks, a read-out and a head."""

from mamba_edu.models.classifier import SequenceClassifier
from mamba_edu.models.ranks import stream_ranks
from mamba_edu.models.saving import load_state, resume_stream, save_state
from mamba_edu.models.streaming import StreamState
from mamba_edu.models.transformer import AttentionBlock, AttentionStack, TransformerClassifier

__all__ = [
    "AttentionBlock",
    "AttentionStack",
    "SequenceClassifier",
    "StreamState",
    "TransformerClassifier",
    "load_state",
    "resume_stream",
    "save_state",
    "stream_ranks",
]
