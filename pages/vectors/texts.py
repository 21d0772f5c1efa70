"""Every sentence of the page and of its exports."""

from pages.ui.stage.texts import progress_texts

SOURCE = "Texts"
SOURCES = {"typed": "Texts A and B", "embedded": "Built-in sentences", "own": "Your own file"}
TEXT_A, TEXT_B = "A text", "A second text, if you like"
PART = "What is shown"
PARTS = {"map": "Map", "probe": "Probe"}
METHOD = "How points are placed"
METHODS = {"pca": "Plane (PCA)", "tsne": "Neighbours (t-SNE)"}
LAYER, COLOUR = "Layer", "Colour by"
COLOURS = {
    "sentence": "Text",
    "word": "Word",
    "position": "Position",
    "upos": "Part of speech",
    "xpos": "XPOS",
    "deprel": "Relation",
}
LABEL = "What is read"
MOST, MOST_HELP = "Tokens", "No more sentences are read than have this many tokens together; more take longer."
LABELS = {name: COLOURS[name] for name in ("upos", "xpos", "deprel")}

TITLES = ("Embeddings", "After layer {layer}")
COORDINATE = "{axis} in layer {layer}"
TOKEN = "{token} · “{text}”"
TEXT = "{name}: {text}"
DOTTED = "nearest to the chosen token"
PLACING = "Placing the tokens of each layer among their neighbours …"
OTHER, NO_LABEL, ONCE = "all others", "not annotated", "only once"
FROM = "{first} and later"
REPEATED = "Cosine similarity from text to text: {words}; of two different words {different} on average. "
PLANE = "The plane shows {share} of the variance. Same scale in all layers; only distances count, axes have no meaning."
REPEATED_BASIC = "How alike from text to text, 1 at most: {words}; two different words {different} on average. "
PLANE_BASIC = "The picture keeps {share} of what differs between the tokens. Only distances count, directions have no meaning."
NEIGHBOUR_MAP = "Near points are alike; how far apart groups lie in a neighbour map, and how large they are, means little."
NOT_SHOWN = "{count:,} of {all:,} texts are not shown: the model cannot read them, or there are more than {most} tokens."
SHOWS = (
    "**Points that lie close** are alike in the two directions in which the vectors of this layer differ most (principal "
    "component analysis of all tokens shown, without special ones). **It does not follow** that points that overlap are alike: "
    "the other directions are not seen. Point at a token for its nearest by cosine similarity in all directions."
)
SHOWS_BASIC = (
    "**Points that lie close** are alike in what differs most between these tokens. **It does not follow** that points that "
    "overlap are alike: what else differs is not seen. Point at a token for those that it is most like in all."
)
ALIGNED = (
    "The plane of each layer is turned and mirrored onto the one before, so that points move no more than they must (orthogonal "
    "Procrustes). 1 is the typical distance of a token from the mean of its layer."
)
SHOWS_NEIGHBOURS = (
    "**Points that lie close** are neighbours in all directions, by cosine similarity (t-SNE, van der Maaten & Hinton 2008; "
    "perplexity {perplexity:.0f}, or a third of the tokens). **It does not follow** that groups far apart differ more than "
    "groups close by: another perplexity puts them elsewhere. Point at a token for its nearest; for distances, choose the plane."
)
ALIGNED_NEIGHBOURS = (
    "The map of each layer begins with its plane, and is turned and mirrored onto the map before (orthogonal Procrustes); what "
    "moves in it need not have moved in the model. 1 is the typical distance of a token from the middle."
)
FORMULA_NEIGHBOURS = (
    r"\min_y \sum_{i \ne j} p_{ij} \log \frac{p_{ij}}{q_{ij}}, \qquad q_{ij} \propto \frac{1}{1 + \lVert y_i - y_j \rVert^2}"
)
FORMULA = (
    r"X - \bar{x} = U S V^\top, \qquad \text{place} = U_{1:2}\,S_{1:2}\,R, "
    r"\qquad \text{share} = \frac{s_1^2 + s_2^2}{\sum_i s_i^2}"
)
LARGER = "Does a larger model part them? The same texts in BERT base, where it can be had"
EXPORT_TITLES = {"pca": "Tokens in the plane of their vectors: {texts}", "tsne": "Tokens by their neighbours: {texts}"}
MANY = "{count:,} sentences, {source}"
SOME = "{read:,} of {count:,} sentences, {source}"

RUN, RUN_HELP = "Train", "Trains a probe on each layer"
PROGRESS = progress_texts("Reading sentences, then training", "step")
PRESS_RUN = "Press Train: the curves appear here, some seconds later with the built-in model, some minutes with a large one."
LAST_RUN = "Your last run, of something else than is chosen above: {label}; {source}; at most {most:,} tokens; {model}."
PROBE_TITLE = "How often a probe is right: {label}"
LINES = {"accuracy": "Accuracy", "control": "Control task", "selectivity": "Selectivity"}
BAND = "Shaded: the 95 % interval of the accuracy, over sentences. Layer 0 is the embeddings."
PROBE_STEP = "Layer {step}"
PROBE_SAID = (
    "{label}, of {words:,} words in {read:,} sentences: {best} right after layer {layer} (95 % interval {low} to {high}), "
    "against {first} from the embeddings alone, and {majority} for always the most frequent. Selectivity is {from_} in the "
    "embeddings, and highest after layer {selective}: {to}."
)
PROBE_SHOWS = (
    "**A probe** is a multinomial logistic regression on the vectors of words. It is always tested on sentences that it was not "
    "trained on: five parts, each the test once. **What it finds is there, but need not be used** by the model. **The control "
    "task** (Hewitt & Liang 2019) gives each word a label by lot: what is right there was learned by heart, so accuracy minus "
    "control task, the **selectivity**, is what counts."
)
PROBE_READ = (
    "{read:,} of {count:,} sentences were read: those that are annotated and that the model can read, each once, as long as they "
    "have at most {most:,} tokens together."
)
PROBE_NOTE = (
    "With 95 % bootstrap intervals over sentences. {seen} of the words stand in the sentences that their probe was trained on; "
    "the control labels of the others can only be guessed. Labels of fewer than ten words are left out; of words of several "
    "tokens the mean vector is read."
)
PROBE_EXPORT_TITLE = "What a probe reads off {model}: {label}, {source}"
PROBE_TYPED = "A probe needs annotated sentences: choose the built-in ones, or your own CoNLL-U file."
