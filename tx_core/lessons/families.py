"""Model families after BERT and what each changed, with sizes from the published configurations."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """The sizes in a family's config.json.

    embedding_size: width of the embedding tables, below `hidden_size` in ALBERT and small ELECTRA. projects: whether a linear
    layer projects embeddings to the hidden size. shared: whether all blocks share their parameters.
    """

    vocab_size: int
    embedding_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    intermediate_size: int
    positions: int
    segments: int
    projects: bool = False
    shared: bool = False

    @property
    def in_embeddings(self) -> int:
        """Parameters of the embedding tables, their norm and the projection to the hidden size."""
        tables = (self.vocab_size + self.positions + self.segments) * self.embedding_size + 2 * self.embedding_size
        return tables + (self.embedding_size * self.hidden_size + self.hidden_size if self.projects else 0)

    @property
    def in_blocks(self) -> int:
        """Parameters of all blocks: four projections, the feed-forward layer, two norms; shared ones count once."""
        hidden, wide = self.hidden_size, self.intermediate_size
        block = 4 * (hidden * hidden + hidden) + 2 * hidden * wide + wide + hidden + 4 * hidden
        return block * (1 if self.shared else self.num_layers)

    @property
    def parameters(self) -> int:
        """Parameters of the encoder, without heads and pooler."""
        return self.in_embeddings + self.in_blocks


@dataclass(frozen=True)
class Family:
    """One checkpoint and what its authors changed. name: its name in the catalogue; None if it is not offered."""

    title: str
    hub_id: str
    name: str | None
    sizes: Sizes
    paper: str
    changed: tuple[str, ...]


BASE = {"embedding_size": 768, "hidden_size": 768, "num_layers": 12, "num_heads": 12, "intermediate_size": 3072}
ELECTRA = (
    "A small generator fills masked tokens, and the model itself, the discriminator, detects which tokens were replaced.",
    "Every token contributes to the loss, not only the 15 % that are masked, so less training achieves as much.",
    "So it has no masked-word head: it says whether a word is the original one.",
)

FAMILIES = {
    "bert": Family(
        "BERT base",
        "google-bert/bert-base-uncased",
        "bert-base-uncased",
        Sizes(30_522, positions=512, segments=2, **BASE),
        "Devlin et al. 2019",
        (
            "Trained on masked words and on next-sentence prediction.",
            "Books and Wikipedia, 16 GB of text, batches of 256 sequences.",
        ),
    ),
    "roberta": Family(
        "RoBERTa base",
        "FacebookAI/roberta-base",
        "roberta-base",
        Sizes(50_265, positions=514, segments=1, **BASE),
        "Liu et al. 2019",
        (
            "Ten times the text, 160 GB, batches of 8,000 sequences, and longer training.",
            "Dynamic masking: other words are masked each time a text is read.",
            "No next-sentence prediction, so no second segment.",
            "Its pieces of words are made of bytes (byte-level BPE), so that no text is unknown.",
        ),
    ),
    "albert": Family(
        "ALBERT base v2",
        "albert/albert-base-v2",
        "albert-base-v2",
        Sizes(30_000, positions=512, segments=2, projects=True, shared=True, **BASE | {"embedding_size": 128}),
        "Lan et al. 2020",
        (
            "All blocks share one set of parameters.",
            "Word embeddings have 128 dimensions; one matrix projects them up to 768.",
            "Sentence-order prediction in place of next-sentence prediction.",
        ),
    ),
    "electra": Family(
        "ELECTRA small",
        "google/electra-small-discriminator",
        "electra-small",
        Sizes(30_522, 128, 256, 12, 4, 1024, positions=512, segments=2, projects=True),
        "Clark et al. 2020",
        ELECTRA,
    ),
    "electra-large": Family(
        "ELECTRA large",
        "google/electra-large-discriminator",
        None,
        Sizes(30_522, 1024, 1024, 24, 16, 4096, positions=512, segments=2),
        "Clark et al. 2020",
        ELECTRA,
    ),
    "distilbert": Family(
        "DistilBERT base",
        "distilbert/distilbert-base-uncased",
        "distilbert-base-uncased",
        Sizes(30_522, positions=512, segments=0, **BASE | {"num_layers": 6}),
        "Sanh et al. 2019",
        (
            "Half the blocks, initialised with every second block of BERT.",
            "Distillation: trained to predict what BERT predicts, not only the right word.",
            "No segments, no next-sentence prediction.",
        ),
    ),
}
