"""All that the page of a class says on the screen, as whole sentences."""

JOIN = "Join your class"
BACK = "Back to your room {code}"
CODE = "Code of six letters"
JOIN_BUTTON = "Join"
CODE_FIRST = "Type the code first: the six letters that your teacher shows."
JOIN_ROOM = "Join room {code}"
JOINING = "Joining room {code} …"
REMOVED = "You are not in this room any more: your teacher may have removed who had not answered. You can join again."
NO_NAMES = "No account and no name is needed."
DELETED = "What you answer is deleted with the room, after {hours:g} hours at the latest."
NICKNAME = "Nickname (your teacher sees it)"
OPEN = "Open a room"
LESSON = "Lesson"
OWN_LESSON = "{title} (your own)"
OWN_LESSONS_HINT = "A lesson of your own is in this list once you have written it, or opened its file, under “Write a lesson”."
PACE = "Students"
TOGETHER, OWN = "follow my step", "go at their own pace"
NICKNAMES = "Ask for a nickname"
ALONE = "Lock: hide the menu and the other pages"
OPEN_BUTTON = "Open the room"
ABOUT_ROOMS = (
    "You get a code, a link and a QR code for your students, and a secret link for yourself. When you close the room, or after "
    "{hours:g} hours, everything in it is deleted."
)
LOOKING = "Looking for your place in this room in this browser. If nothing happens, open your secret link again."

STEP = "{title} · step {number} of {total}"
BELOW_PICTURE = "Code {code} · Page Up: all answers"
PROJECTED = "{step} · code {code}"
SEND, SEND_ANSWER = "Send my guess", "Send my answer"
YOUR_GUESS = "Your guess: “{guess}”."
CHANGEABLE = "You can change it until the answer is revealed."
NO_GUESS_OF_YOURS, NO_SECOND_VOTE = "You did not guess here.", "You did not vote again: your first vote stands."
KEEP_GUESS = "Keep my guess"
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
ANSWERED_AGAIN = "{answered} of {students} have voted again"
WITHOUT_LEFT = "{said} (left: {count})"
DISCUSS = "Discuss, then vote again"
DISCUSS_NOW = "Discuss with your neighbour, then vote again."
SHOW_FIRST = "Show the first vote"
YOUR_FIRST_VOTE = "Your first vote: “{guess}”."
STANDS = "It stands unless you change it."
FIRST_VOTE, SECOND_VOTE = "first vote", "second vote"
GAIN = (
    "{count} voted twice. Right before the discussion: {before} ({before_share}); after it: {after} ({after_share}); normalised "
    "gain {gain}."
)
VOTED_TWICE = (
    "{count} voted twice. Right before the discussion: {before}; after it: {after}. A gain is computed from {least} students on."
)
FIRST_STANDS = "Not voted again, so that the first vote stands: {count}."
NO_GAIN = "none: all were right"
VOTED_FIRST = "{count} voted before the discussion."
HIDE_AGAIN = "Hide the answers again"
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
PROJECTOR_WINDOW = "Projector in a window of its own"
PROJECTOR_HINT = "Drag it to the projector. It follows this page, and shows nothing that students wrote until you show it here."
TIMER, TIMER_MINUTES = "Timer", "Minutes"
START_TIMER, STOP_TIMER = "Start the timer", "Stop the timer"
REVEAL = "Reveal the answers"
OPTIONS = "Options: {options}"
LOCK = "Lock the room: nobody new joins"
WHO = "Who is here"
SILENT = "All who have sent nothing ({count})"
MEMBER, MEMBER_NAMED = "Student {number} (answers: {guesses})", "Student {number}, {nickname} (answers: {guesses})"
REMOVE, REMOVE_SINCE = "Remove", "Remove student {number} and all who came since ({count})"
REMOVE_HINT = "All that they sent is deleted. They can join again, unless the room is locked."
ONLY_HERE = (
    "Phones cannot reach “{host}”: QR code and link lead to `{address}`, this machine's address. Try it with a phone first."
)
NOT_REACHABLE = "Phones cannot reach this address"
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
WRITTEN = "Look through the answers first"
WRITTEN_COUNT, REFUSED_COUNT = "{text} ({count})", "{text} ({count}): on the list of refused words"
HIDE_WORD, SHOW_WORD = "Hide", "Show"
SUMMARY = "Summary"
SUMMARY_COLUMNS = (
    *("step", "question", "answers", "right", "voted twice", "right before the discussion", "right after it", "normalised gain"),
)
SUMMARY_FILE = "Summary as CSV"
NOTHING_REVEALED = "Here stands how many were right, once answers are revealed."
NOTES = "Notes for the teacher"
LAUNCH = "Start from a course"
UNKNOWN_PLATFORM = "This server does not know the learning platform that you come from. Whoever runs it can name it (HOSTING.md)."
LAUNCH_IS_OVER = "This start took too long, or was used before. Open the activity in your course again."
LAUNCH_REFUSED = "This start could not be verified: {reason}. Open the activity in your course again, or tell your teacher."
LAUNCH_PROBLEMS = {
    "ExpiredSignatureError": "it has expired",
    "ImmatureSignatureError": "the clocks of the two servers differ",
    "InvalidAudienceError": "it is meant for another tool",
    "InvalidIssuerError": "it comes from another platform",
}
"""By the name of the error, without which a start is just invalid."""
LAUNCH_INVALID = "its signature or its form is wrong"
PLATFORM_SILENT = (
    "Your learning platform does not answer this server, which asks it for the keys to verify this start. Open the activity in "
    "your course again in a minute, or tell whoever runs the platform."
)
LAUNCH_LACKS = "these of its fields are missing or wrong: {names}"
NO_TARGET = "This activity names no lesson and no room. Its tool URL must be the link of one, as its teacher copies it here."

COLUMNS = ("student", "nickname", "step", "question", "answer", "model's answer", "sentence", "first vote")

OF_CLASS, OF_MODEL = "class (guesses)", "model"
COUNT = "{share} ({count})"
NOT_LISTED = "not in its first {count}"
MODELS_NUMBER = "model: {value}"
MOST = "Most frequent: “{guess}”, {count} of {total}."
ALL_DIFFERENT = "Every guess was different."
NO_MAJORITY = "A tie: the most frequent guesses have {count} of {total} each."
MODEL_SAYS = "The model says “{answer}”; {hits} of {total} guessed right."
NO_GUESSES = "Nobody guessed. The model says “{answer}”."
NO_VOTES = "Nobody answered."
TO_DISCUSS, ONE_TO_DISCUSS = "{count} answers were written. Discuss them.", "One answer was written. Discuss it."

LIVE_TEXTS = {
    "go": "Your teacher is at step {step}. Send what you wrote first, or go there now.",
    "slow": "Live changes do not reach this browser; it asks every few seconds instead.",
    "offline": "The server cannot be reached. This page tries again.",
    "time": "Time left: {time}",
    "timeIsUp": "Time is up.",
    "bars": "Bars",
    "cloud": "Cloud",
    "shown": "A sentence from the class: {sentence}",
}
"""What the browser says by itself."""
