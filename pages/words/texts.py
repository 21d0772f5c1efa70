"""What the page says around the glossary."""

TERM = "- **{name}**: {meaning}"
SEE = "See it: {question}"
NOT_AN_EXPLANATION = (
    ":material/info: Attention is not an explanation: an attention weight says what was mixed, not what decided the output."
)
