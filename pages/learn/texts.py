"""What the page of lessons says."""

LESSON = "{minutes} minutes · {steps} steps · {level}"
BEGIN = "Begin"
USE_IN_CLASS = "Use this lesson in a class"
HOW = "In each step you guess first; then the model computes the answer, and the view opens in which you can try further."
FOR_TEACHERS = (
    "In a class, you open a room from a lesson. Your students join it with a code and guess on their own devices; you reveal the "
    "answers, and everyone sees all guesses beside the model's answer."
)
NOTES = "Notes for the teacher"
