"""All that the page of a class says on the screen, as whole sentences."""

JOIN = "Join your class"
CODE = "Code of six letters"
JOIN_BUTTON = "Join"
CODE_FIRST = "Type the code first: the six letters that your teacher shows."
JOIN_ROOM = "Join room {code}"
JOINING = "Joining room {code} …"
REMOVED = "You are not in this room any more: your teacher may have removed who had not answered. You can join again."
NO_NAMES = "No account and no name is needed. What you answer is deleted with the room, after {hours:g} hours at the latest."
NICKNAME = "Nickname (your teacher sees it)"
OPEN = "Open a room"
LESSON = "Lesson"
OWN_LESSON = "{title} (your own)"
OWN_LESSONS_HINT = "A lesson of your own is in this list once you have written it, or opened its file, under “Write a lesson”."
PACE = "Students"
TOGETHER, OWN = "follow my step", "go at their own pace"
NICKNAMES = "Ask for a nickname"
OPEN_BUTTON = "Open the room"
ABOUT_ROOMS = (
    "You get a code, a link and a QR code for your students, and a secret link for yourself. When you close the room, or after "
    "{hours:g} hours, everything in it is deleted."
)
LOOKING = "Looking for your place in this room in this browser. If nothing happens, open your secret link again."

STEP = "{title} · step {number} of {total}"
SEND = "Send my guess"
YOUR_GUESS = "Your guess: {guess}. You can change it until the answer is revealed."
YOUR_LAST_GUESS = "Your guess: {guess}."
NO_GUESS_OF_YOURS = "You did not guess here."
SENTENCE = "Sentence: {sentence}"
WAITING = "When your teacher reveals the answers, they appear here."
OWN_PACE = "Go on when you like. When your teacher reveals the answers of this step, they appear here."
REVEALED = "This is what the class said."
OWN_SENTENCE = "Send a sentence of your own for this view"
OWN_SENTENCE_LABEL = "Your sentence"
SEND_SENTENCE = "Send the sentence"
SENTENCE_SENT = "Your teacher has your sentence: {sentence}"
NEXT, PREVIOUS = "Next step", "Previous step"

ANSWERED = "{answered} of {students} have answered"
NOBODY_YET = "Nobody has joined yet"
ARE_HERE, ONE_IS_HERE = "{students} students have joined", "1 student has joined"
CLOSED = "This room is closed. Everything in it is deleted."
CLOSED_HINT = "You can go on by yourself with the lessons."
TO_LESSONS = "To the lessons"
TO_ENTRANCE = "Join or open another room"
CODE_FOR_STUDENTS = "Code for students"
QR_LABEL = "QR code: scan it to join room {code}"
STUDENT_LINK = "Link for students"
TO_PROJECTOR = "For the projector (key P)"
REVEAL = "Reveal the answers"
OPTIONS = "Options: {options}"
LOCK = "Lock the room: nobody new joins"
REMOVE = "Remove who has not answered"
REMOVE_QUESTION = (
    "{count} have sent no answer and no sentence at any step. Those who are removed can join again, unless the room is locked."
)
ALL_HAVE_ANSWERED = "Everybody who has joined has sent something."
REMOVE_SURE, REMOVE_NOBODY = "Yes, remove them", "Remove nobody"
ONLY_HERE = (
    "Phones cannot reach “{host}”: it means the machine that it is typed on. Open the room at this machine's address, where the "
    "link and the QR code then lead."
)
OPEN_AT = "Open the room at {address}"
LISTENS_HERE = (
    "Phones cannot reach this room: the server listens to this machine only. Start it with `--server.address 0.0.0.0`, and open "
    "it at this machine's address{address}."
)
THIS_ADDRESS = ", most likely `{address}`"
NO_NETWORK = "Phones cannot reach “{host}”, and this machine is in no network. Join one, and open the room at its address there."
MANAGE = "Room and secret link"
SECRET_LINK = "Your secret link. Keep it to come back, and do not show it on the projector."
EXPORT = "Answers as CSV"
CLOSE = "Close the room and delete everything"
CLOSE_SURE = "Yes, delete everything now"
KEEP = "Keep the room"
CLOSE_QUESTION = "All answers and sentences of this room will be gone. Save them as CSV first if you need them."
SENTENCES = "Sentences from students"
LOOK_FIRST = "{count} sent. Look at a sentence on your own screen before you show it to everyone."
NO_SENTENCES = "Nobody has sent a sentence for this step."
REFRESH = "Look again"
SHOW, HIDE = "Show to everyone", "Hide it again"
WRITTEN = "What students wrote"
NOTES = "Notes for the teacher"
COLUMNS = ("student", "nickname", "step", "question", "answer", "model's answer", "sentence")

OF_CLASS, OF_MODEL = "class", "model"
COUNT = "{count} · {share}"
NOT_LISTED = "not in its first {count}"
MODELS_NUMBER = "model: {value}"
MOST = "Most frequent: “{guess}”, {count} of {total}."
ALL_DIFFERENT = "Every guess was different."
NO_MAJORITY = "A tie: the most frequent guesses have {count} of {total} each."
MODEL_SAYS = "The model says “{answer}”; {hits} of {total} guessed right."
NO_GUESSES = "Nobody guessed. The model says “{answer}”."
NO_VOTES = "Nobody answered."
TO_DISCUSS = "{count} answers were written. Discuss them."

LIVE_TEXTS = {
    "go": "Your teacher is at step {step}. Send what you wrote first, or go there now.",
    "slow": "Live changes do not reach this browser; it asks every few seconds instead.",
    "offline": "The server cannot be reached. This page tries again.",
    "shown": "A sentence from the class: {sentence}",
    "mapOfClass": "guesses of the class: a larger circle for more of them",
    "mapOfModel": "the model: a darker cell for a larger number",
    "mapOfModelInTheDark": "the model: a lighter cell for a larger number",
    "mapAnswer": "the model's answer",
}
"""What the browser says by itself."""
