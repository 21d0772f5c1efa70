"""All that the page of positions says, but for what it says of each encoding, which stands in their table (encodings.py)."""

PART = "Part"
PARTS = {"shuffle": "Shuffle the words", "ways": "Encodings", "demands": "Requirements"}
NOTICES = {
    "ways": "Notice which encodings know the distance alone: their maps have equal diagonals.",
    "demands": "What should a code for positions be? Notice which encodings meet every requirement.",
}
"""What to notice in a part, above its picture."""
NO_MODEL = "No model, only formulas"

# Controls
ENCODING = "Encoding"
VIEW = "View"
VIEWS = {"map": "Map", "waves": "Waves", "similarity": "By distance", "effect": "Effect on scores"}
MODEL = "Model"
LENGTH, WIDTH, BASE = "Positions", "Dimensions", "Base"
HEAD = "Head"
DIMENSIONS, DIMENSIONS_HELP = "Waves of", "Dimensions whose waves are drawn: up to {most} of 0 to {last}"
DIMENSIONS_PROBLEM = "Write up to {most} different whole numbers from 0 to {last}, separated by spaces, such as 0 1 2."

# Map
POSITION = "position"
VECTOR_AXES, PAIR_AXES = "position ↓  dimension →", "query ↓  key →"
AT_POSITION, AT_DISTANCE = "position {step}", "distance {step}"
VECTOR_CELL = "position {row} · dimension {column}"
PAIR_CELL = "position {row} attends to position {column}"
CHANGE_CELL = "{row} · {column}"
VECTORS_ALT = "{positions} positions down, {dimensions} dimensions across, values from {lowest} to {highest}."
PAIRS_ALT = "Query down, key across. Every diagonal has one value: only the distance matters."

# Waves
CURVE_OF_DIMENSION = "dimension {number}"
CURVES_BY_POSITION = "Curves over the position: {names}."
MEAN = "mean; shaded from lowest to highest"
DISTANCE_FROM_QUERY = "distance from query to key"
NO_DIMENSION = "Choose a dimension to see its wave."

# By distance
DISTANCE = "distance"
COSINE_TITLE, SCORE_TITLE = "Similarity of two positions (cosine)", "Score between two copies of one word"
BY_DISTANCE = (
    "{title}, by distance: {here:.2f} at distance 0, {next:.2f} at 1, {far:.2f} at {last}. The widest range at one distance is "
    "{spread:.2f}."
)

# Effect on scores
SCORES = "Scores minus their mean"
WEIGHTS, WEIGHTS_ALT = "Weights", "Softmax of the scores; without positions all would be equal."
ONE_RANDOM_WORD = "The same random word is at every position, so all differences come from the positions alone."
ONE_MASK = (
    "The model's first layer reads nothing but copies of [MASK], one at every position, so all differences come from the "
    "positions alone."
)

# Requirements
REQUIREMENTS_TEXT = (
    "What should a code for positions be? **Unique**: no two positions have the same code. **Bounded**: longer texts do not need "
    "larger numbers. **Deterministic**: the code is always the same, whatever the length of the text. **Consistent in "
    "distance**: two positions at the same distance differ by the same amount, wherever they are. Each of these is measured here."
)
REQUIREMENTS_FORMULA = r"\lVert P_{t+k} - P_t \rVert \;\text{ the same for every } t"
REQUIREMENTS_CAPTION = (
    "Unique: distance between the two most similar positions. Bounded: growth of the largest value when the text doubles. "
    "Deterministic: largest change when computed again or for half the text. Consistent: how much the distance between equally "
    "distant positions varies, as a share of the largest distance. Relative encodings such as Shaw, T5 and ALiBi use nothing but "
    "distances, so they have no code to test."
)
LEARNED_TABLE_NOTE = (
    "Nothing forces a learned table to be consistent, and this one is not: {learned}. Position 0 stands out: it lies farther "
    "from every other position than any two of those from each other. Without it, {rest} is left; a random table has {random}."
)
COMPARED, MEASURED = "Encoding", "What each encoding can do, measured"

# Shuffle the words
SHUFFLE_TEXT = (
    "Attention sees a **set** of words. Without positions, shuffling the words only shuffles the results (**equivariance**): "
    "every word gets the same vector as before. With positions, it does not. Write a blank, `[MASK]`, to see how that changes "
    "a prediction."
)
SHUFFLE_FORMULA = r"f(\pi X) = \pi f(X) \;\text{ for every order } \pi"
SHUFFLE_AGAIN = "Shuffle again"
ORDERS, ORDERED, SHUFFLED = "Both orders", "In order", "Shuffled"
ORDER_MATTERS = "order matters"
MORE_THAN_LITTLE = "more than 0.001"
SAME_ORDER = "the order is the same"
CHANGES = (
    "With positions, the vectors of the words change by up to {changed}: {meaning}. Without positions, by up to {bare}: "
    "{bare_meaning}."
)
CHANGE_BY_TOKEN = "Change of each token's vector"
WITH_POSITIONS, WITHOUT_POSITIONS = "positions", "no positions"
NO_BLANK = "Write [MASK] in the sentence to see how shuffling changes a prediction."
ORDERED_GUESS = "In order, with positions"
SHUFFLED_GUESS = "Shuffled, with positions"
UNORDERED_GUESS = "Without positions, in any order"

EXPORT_ENCODING = "Position encoding: {encoding}. {view}"
EXPORT_REQUIREMENTS = "Requirements on position encodings, measured at {length} positions"
EXPORT_SHUFFLE = "A sentence in order and shuffled, with positions and without"
