"""The table of contents: every page of the explorer in reading order; the first is where a visit begins.

Adding a page is adding its file, pages/<key>/page.py, and its entry here.
Pages have no icons: Streamlit would fetch them from another origin to put them on the browser's tab.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """One page: where it stands in the navigation, the question it answers, and how it begins.

    second: what its address calls a second sentence, read together with the first or held against it; "" for none.
    address: how its link names it where that is not its key, which its old links keep.
    computes: False for a page to read, without a model to name and without a view to come back to.
    """

    key: str
    section: str
    name: str
    question: str
    lead: str
    second: str = ""
    address: str = ""
    computes: bool = True

    @property
    def path(self) -> str:
        """The page's file, as st.Page and st.page_link ask for it: seen from pages/main.py."""
        return f"{self.key}/page.py"


PAGES = (
    Page(
        "attention",
        "Explore",
        "Attention",
        "Where does each head look?",
        "Type a sentence and see how much each token attends to every other, in every layer and head of a BERT.",
        second="pair",
    ),
    Page(
        "fill_mask",
        "Explore",
        "Fill the blank",
        "What would BERT put here?",
        "Leave a blank in a sentence: see the words that the model finds likely, and where the blank looks.",
    ),
    Page(
        "compare",
        "Explore",
        "Compare",
        "What differs between A and B?",
        "Two sentences, heads or models side by side: what the second looks at more or less, and if a word stays the same.",
        second="text_b",
    ),
    Page(
        "summaries",
        "Explore",
        "Summaries",
        "What do all the heads do?",
        "All heads of a model on your sentence, summed up: their kinds, what reaches through the layers, and what a prediction "
        "is owed to.",
        second="pair",
    ),
    Page(
        "many_sentences",
        "Explore",
        "Many sentences",
        "What does each head do over many sentences?",
        "Let a model read hundreds of sentences, ours or your own, and see what every head does on average, how surely, and "
        "where it does so most.",
    ),
    Page(
        "bertviz_page",
        "Explore",
        "bertviz",
        "How does bertviz draw it?",
        "The head view, the model view and the neuron view of a well-known tool, on your own sentence and without a network.",
        second="pair",
        address="bertviz",
    ),  # a file of that name would hide the package from whoever imports it
    Page(
        "self_attention",
        "Build",
        "Self-attention",
        "How does a token find what matters to it?",
        "Follow one head from the words of your sentence to its answer, and see the sum behind every number.",
    ),
    Page(
        "heads_and_blocks",
        "Build",
        "Heads and blocks",
        "What is a block made of?",
        "Take a block of a BERT apart on your own sentence: heads, feed-forward, norms, and the sums that tie them together.",
        second="pair",
    ),
    Page(
        "masks",
        "Build",
        "Masks",
        "Who may look at whom?",
        "Hide the future, the padding or anything you like from a head, and see what becomes of its attention.",
    ),
    Page(
        "positions",
        "Build",
        "Positions",
        "How does it know the order of words?",
        "Attention by itself sees a bag of words. Look at six ways to tell it positions, test them, and shuffle the words.",
    ),
    Page(
        "encoder_decoder",
        "Build",
        "Encoder and decoder",
        "How does one sequence become another?",
        "Train a whole transformer here and now, and watch its decoder find out where to look in the source.",
    ),
    Page(
        "bert",
        "Build",
        "BERT, written out",
        "Is this really BERT?",
        "Hold our own BERT against the library's, against one that nobody trained, and against what came after it.",
        second="pair",
    ),
    Page(
        "classifier",
        "Build",
        "A classifier",
        "How does a model learn to label a text?",
        "Train a small encoder to tell praise from blame, or on texts of your own, and see which words it goes by.",
    ),
    Page(
        "words",
        "Reference",
        "Glossary",
        "What do these words mean?",
        "Token, head, query, weight: what the other pages take for known, in a sentence or two, and where to see it.",
        computes=False,
    ),
)


def page(key: str) -> Page:
    """Find a page by its key; a key that is not in the table is a KeyError."""
    return {page.key: page for page in PAGES}[key]
