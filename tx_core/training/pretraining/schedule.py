"""How far a run is, and what follows from it: learning rate, share of blanks, batches to an update."""

from tx_core.training.pretraining.settings import MaskingSettings, ScheduleSettings


def progress(settings: ScheduleSettings, step: int, seconds: float) -> float:
    """Tell how far the run is, from 0 to 1: by steps, or by the time spent in all sittings together."""
    done = step / settings.steps if settings.steps else seconds / (60 * settings.minutes)
    return min(1.0, done)


def learning_rate(settings: ScheduleSettings, done: float) -> float:
    """Rise in a straight line to the peak, then fall in one to 0 (Izsak et al. 2021, section 3)."""
    if done < settings.warm_up:
        # A first update with a rate of 0 would teach nothing, so the rise begins a little above it.
        return settings.peak_rate * max(done / settings.warm_up, 1e-3)
    return settings.peak_rate * (1 - done) / (1 - settings.warm_up) if settings.warm_up < 1 else settings.peak_rate


def released_rate(settings: ScheduleSettings, done: float) -> float:
    """Give the learning rate of a run that begins with weights held: when these are let go, it rises once more.

    The optimiser then knows nothing of their gradients yet.
    """
    if done < settings.hold_old or not (settings.hold_old and settings.warm_up):
        return learning_rate(settings, done)
    return learning_rate(settings, done) * min(1.0, max((done - settings.hold_old) / settings.warm_up, 1e-3))


def mask_rate(settings: MaskingSettings, done: float) -> float:
    """Fall in a straight line from the first rate to the final one (Ankner et al. 2024)."""
    return settings.rate + (settings.final_rate - settings.rate) * done


def batches_to_an_update(settings: ScheduleSettings, done: float) -> int:
    """Take more batches to an update late in the run, where less noise helps."""
    return settings.grown if done >= settings.grow_after else settings.accumulate
