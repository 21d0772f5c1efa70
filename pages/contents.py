"""List every page in the order of the navigation; a visit begins at HOME.

To add a page, add its file, pages/<key>/page.py, and its entry here.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    """One page of the navigation.

    key: its folder, and the prefix of its widgets' keys. icon: by its name in Material Symbols. question, lead: its title and the
    sentence below. second: the query parameter of a second sentence, "" for none. address: its path where that is not its key;
    links by the key keep working. computes: whether it has a model, a view to restore and a stage (pages/ui/stage), right below
    question and sentence; False for a page to read. script: what its stage draws with (assets/stage), which a browser fetches
    while the page is on its way.
    """

    key: str
    name: str
    icon: str
    question: str
    lead: str
    second: str = ""
    address: str = ""
    computes: bool = True
    script: str = "pictures"

    @property
    def path(self) -> str:
        """Its file relative to pages/main.py, as st.Page and st.page_link take it."""
        return f"{self.key}/page.py"


SECTIONS = {
    "Learn": (
        Page(
            "start",
            "Start",
            "home",
            "What does a language model look at?",
            "This model fills a gap by looking at the other words. That looking is called attention.",
            script="routes",
        ),
        Page(
            "learn",
            "Lessons",
            "school",
            "Where do I begin?",
            "Guess, then see what the model does: short lessons that lead through the other pages, one question at a time.",
            computes=False,
        ),
        Page(
            "classroom",
            "Class",
            "groups",
            "What does the class think?",
            "Take a lesson together: everyone guesses on their own device, then all guesses stand beside the model's answer.",
            address="class",
            computes=False,
        ),
        Page(
            "lesson_editor",
            "Write a lesson",
            "edit_note",
            "How do I make a lesson of my own?",
            "Collect views of any page, write a question to each, and share the lesson as a file, a link or a QR code.",
            computes=False,
        ),
    ),
    "Explore": (
        Page(
            "attention",
            "Attention",
            "grid_on",
            "Where does each head look?",
            "See how much each token attends to every other, in every layer and head of a model.",
            second="pair",
            script="attention",
        ),
        Page(
            "fill_mask",
            "Fill the blank",
            "space_bar",
            "What would BERT put here?",
            "Leave a blank in a sentence: see which words the model finds likely, and where the blank looks.",
            script="fill_mask",
        ),
        Page(
            "next_word",
            "Next word",
            "edit",
            "What comes next, and from where?",
            "Type a beginning: see what a model that writes finds likely next, let it write, and see where it looks.",
            script="next_word",
        ),
        Page(
            "compare",
            "Compare",
            "compare_arrows",
            "What differs between A and B?",
            "Two sentences, heads or models: what differs in their attention and vectors.",
            second="text_b",
            script="compare",
        ),
        Page(
            "patching",
            "Patching",
            "alt_route",
            "Where does the answer travel?",
            "Activation patching: put a part of the model's run on A into its run on B. Does A's answer follow?",
            second="text_b",
        ),
        Page(
            "explanations",
            "Explanations",
            "fact_check",
            "Which explanation names the word that tells A from B?",
            "One word tells A from B: see which of eleven methods name it, on your own pair of sentences and on 500.",
            second="text_b",
        ),
        Page(
            "summaries",
            "Summaries",
            "bar_chart",
            "What do all the heads do?",
            "See what each head does, how attention combines through the layers, and what a prediction depends on.",
            second="pair",
        ),
        Page(
            "many_sentences",
            "Many sentences",
            "library_books",
            "What does each head do over many sentences?",
            "See what each head does most, over hundreds of sentences.",
        ),
        Page(
            "importance",
            "Importance",
            "experiment",
            "What does the answer lose without a part?",
            "Take each head or layer out of many prompts, one at a time: how much worse does the right answer become?",
        ),
        Page(
            "vectors",
            "Vectors",
            "scatter_plot",
            "Where does a word lie?",
            "See tokens as points that follow their vectors through the layers, and what a probe reads off them.",
            second="text_b",
        ),
        Page(
            "claims",
            "Claims",
            "checklist",
            "What of this holds for my model?",
            "What the lessons and the examples of other pages say, put to any model: what holds, and by how much.",
        ),
        Page(
            "bertviz_page",
            "bertviz",
            "polyline",
            "How does bertviz draw it?",
            "The head, model and neuron views of a well-known tool, on your own sentence and without a network connection.",
            second="pair",
            address="bertviz",
        ),  # a file of that name would hide the package from whoever imports it
    ),
    "Build": (
        Page(
            "self_attention",
            "Self-attention",
            "function",
            "How does a token find what matters to it?",
            "Follow one attention head from the words of your sentence to its output, and see the sum behind every number.",
        ),
        Page(
            "heads_and_blocks",
            "Heads and blocks",
            "stacks",
            "What is a block made of?",
            "Take a block of BERT apart on your own sentence: heads, feed-forward layer, layer norms and residual connections.",
            second="pair",
        ),
        Page(
            "masks",
            "Masks",
            "visibility_off",
            "Who may look at whom?",
            "Hide the future, the padding or any cells from a head, and see its attention change.",
        ),
        Page(
            "positions",
            "Positions",
            "format_list_numbered",
            "How does it know the order of words?",
            "Attention alone ignores word order: shuffle the words to see it.",
        ),
        Page(
            "encoder_decoder",
            "Encoder and decoder",
            "translate",
            "How does one sequence become another?",
            "Train a small transformer on this page, and watch its decoder learn where to look in the source.",
            script="training",
        ),
        Page(
            "bert",
            "BERT, written out",
            "code",
            "Is this really BERT?",
            "Compare our own BERT with Hugging Face's, and with the models that came after it.",
            second="pair",
            script="bert",
        ),
        Page(
            "classifier",
            "A classifier",
            "thumbs_up_down",
            "How does a model learn to label a text?",
            "See what each word adds to the label of a fine-tuned BERT, or train a small encoder on your own texts.",
            script="training",
        ),
    ),
    "Reference": (
        Page(
            "words",
            "Glossary",
            "menu_book",
            "What do these words mean?",
            "Token, head, query, weight: the terms used on the other pages, each in a sentence or two, with a link to a view.",
            computes=False,
        ),
    ),
}
"""The pages of each section, in the order of the navigation."""
PAGES = tuple(page for pages in SECTIONS.values() for page in pages)

HOME = "start"
"""The page at the root of the site."""
FORMER_HOME = "attention"
"""The page that was at the root before. Links to the root with its parameters still lead to it."""
FORMER_HOME_PARAMETERS = frozenset(
    ("text", "pair", "model", "stack", "heads", "words", "hide", "show", "lines", "scale", "focus", "changes", "lesson", "step")
) | {"nospecial"}
"""All that such a link may hold."""
HOME_PARAMETER = "least"
"""What every link to a view of the page at the root holds, and no such link."""


def page(key: str) -> Page:
    """Return the page with this key; raise KeyError if there is none."""
    return {page.key: page for page in PAGES}[key]


def page_address(page: Page) -> str:
    """Return the path of a page, relative to that of any other."""
    return "" if page.key == HOME else page.address or page.key
