"""Sentence embeddings for questions, from the module that the runner shares."""

from evalsets.embedding import MINILM, Embedder, Vectors, has_minilm, load_embedder

__all__ = ["MINILM", "Embedder", "Vectors", "has_minilm", "load_embedder"]
