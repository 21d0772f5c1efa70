"""The copy task at the notebook's full sizes: minutes on a GPU, a quarter of an hour on one busy core."""

import pytest

from tx_core.engine.device import best_device
from tx_core.training.copy_task import NOTEBOOK_COPY, start_copy_training


@pytest.mark.timeout(7200)
def test_the_loss_falls_below_a_hundredth_within_200_batches_at_full_size():
    device = best_device()
    records = list(start_copy_training(NOTEBOOK_COPY, device).updates())
    below = next((record.done for record in records if record.values["loss"] < 0.01), None)
    last = records[-1]
    print(
        f"\n{device}: below 0.01 at batch {below}; at batch {last.done} loss {last.values['loss']:.4f}, "
        f"alignment {last.values['alignment']:.2f}, {last.seconds:.0f} s"
    )
    assert below is not None
