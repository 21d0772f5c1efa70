"""What the panels say. Every string is a whole sentence or label; named placeholders are filled by `format`."""

# Sizes of a training

SIZES_DO_NOT_FIT = "These sizes do not fit together: {rule}."
SIZE_TOO_LARGE = "“{label}” {value:,} (here up to {maximum:,})"
SIZES_NEED_CARD = (
    "This needs a server with a graphics card (CUDA): {sizes}. Choose smaller numbers under “Sizes and training”, which Advanced "
    "shows."
)
SIZES = "Sizes and training"
SIZE_LABEL = "{label} ({minimum:,} to {maximum:,})"
LEARNING_RATE = "Learning rate"
LEARNING_RATE_RANGE = "The learning rate must be between {minimum} and {maximum}."

# Lessons

NO_SUCH_LESSON = (
    "There is no lesson of this name here. There are: {names}. A lesson from a file is opened on the page “Write a lesson”."
)
NO_SUCH_STEP = "This lesson has no such step: it has {count}. In the link, step=1 is the first."
LESSON_PROGRESS = "{title} · step {number} of {total}"
STEP_DONE, STEP_TO_DO, STEP_WAITS = "done", "not done yet", "make the change"
CHECK_GUESS, GIVE_ANSWER = "Check my guess", "This is my answer"
"""The button below a question: of one that is compared with the model, and of a vote or an opinion."""
NO_GUESS = "Make a guess first: there is nothing to lose."
NOT_A_SHARE = "A share is a number from 0 to 1: write 0.25 for a quarter."
HIDDEN_UNTIL_ANSWERED = "The view opens below once you have answered."
GUESS_IS_FIRST = "Right: “{answer}” is first, with {share}."
GUESS_HAS_RANK = "“{answer}” is first, with {share}; your guess, “{guess}”, is number {rank}, with {guess_share}."
GUESS_HAS_SHARE = "“{answer}” is first, with {share}; your guess, “{guess}”, has {guess_share}."
GUESS_HAS_NO_SHARE = "“{answer}” is first, with {share}; your guess was “{guess}”."
YOUR_GUESS = "{guess} (your guess)"
REVEAL = "Reveal the answer"
REVEALED = "The model computes “{answer}” ({share})."
DISCUSS_NOW = "What do you think?"
DISCUSS = "Your answer: “{guess}”"
NOTE_ON_STEP = "Step {number}: {title}"
HEADS = "any of {count} heads: layers 1 to {layers}, heads 1 to {heads}"
SEE_BELOW = "See it below"
NEXT_STEP = "Next step"
NEXT_LESSON = "Next lesson: {title}"
TRY_OWN_SENTENCE = "{page}: type a sentence of your own"
SKIP_STEP = "Skip this step"
PREVIOUS_STEP = "Step before"
BACK_TO_WRITING = "Back to writing it"
LEAVE_LESSON = "Leave the lesson"
END_LESSON = "Finish: to the list of lessons"

# The list of lessons

LESSON_FINISHED = "Finished"
LESSON_DETAILS = "{minutes} minutes · {steps} steps · {level}"
BEGIN = "Begin"
USE_IN_CLASS = "Use this lesson in a class"
HOW_LESSONS_WORK = (
    "In each step you guess first; then the model computes the answer, and the view opens in which you can try further."
)
FOR_TEACHERS = (
    "In a class, you open a room from a lesson. Your students join it with a code and guess on their own devices; you reveal the "
    "answers, and everyone sees all guesses beside the model's answer."
)
TEACHER_NOTES = "Notes for the teacher"

# Questions

QUESTION = {"guess": "your guess", "answer": "the model's answer", "value": "{name}: {value}"}
