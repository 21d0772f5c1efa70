"""What the page of lessons says."""

LESSON = "{minutes} minutes · {steps} steps · {level}"
BEGIN = "Begin"
HOW = "In each step you guess first; then the model computes the answer, and the view opens in which you can try further."
NOTES = "Notes for the teacher"
