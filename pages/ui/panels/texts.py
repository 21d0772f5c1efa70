"""What the panels say. Every string is a whole sentence or label; named placeholders are filled by `format`."""

# Training

TRAIN, TRAIN_AGAIN, CONTINUE, STOP = "Train", "Train from scratch", "Continue", "Stop"
CONTINUE_HELP = "Continues from the batch at which you stopped it."
LAST_MODEL = "Your last model"
LAST_MODEL_DIFFERS = "It was trained with other settings than those above: {differences}."
STARTING = "Starting …"
TRAINING_PROGRESS = {
    "running": "Training: batch {done:,} of {total:,}, {seconds:.0f} s",
    "stopping": "Stopping: batch {done:,} of {total:,}, {seconds:.0f} s",
    "stopped": "Stopped: batch {done:,} of {total:,}, {seconds:.0f} s",
    "finished": "Done: batch {done:,} of {total:,}, {seconds:.0f} s",
    "failed": "Failed: batch {done:,} of {total:,}, {seconds:.0f} s",
}
READING_PROGRESS = {
    "running": "Reading: sentence {done:,} of {total:,}, {seconds:.0f} s",
    "stopping": "Stopping: sentence {done:,} of {total:,}, {seconds:.0f} s",
    "stopped": "Stopped: sentence {done:,} of {total:,}, {seconds:.0f} s",
    "finished": "Done: sentence {done:,} of {total:,}, {seconds:.0f} s",
    "failed": "Failed: sentence {done:,} of {total:,}, {seconds:.0f} s",
}
QUEUE_NEXT = "Waiting: you are next. It starts automatically."
QUEUE_ONE_AHEAD = "Waiting: 1 visitor is ahead of you. It starts automatically."
QUEUE_MANY_AHEAD = "Waiting: {ahead:,} visitors are ahead of you. It starts automatically."
SIZES_DO_NOT_FIT = "These sizes do not fit together: {rule}."
SIZES = "Sizes and training"
SIZE_LABEL = "{label} ({minimum:,} to {maximum:,})"
LEARNING_RATE = "Learning rate"
LEARNING_RATE_RANGE = "The learning rate must be between {minimum} and {maximum}."
BATCH = "batch"
CURVES_ALT = "Line chart over batches. {lines}"
CURVE_IN_WORDS = "{name}: {first:.3f} at batch {begin:g}, {last:.3f} at batch {end:g}."
CURVES_EMPTY = "Line chart over batches, still empty."
