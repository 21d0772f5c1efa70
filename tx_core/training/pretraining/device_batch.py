"""What a batch becomes on the device that computes: tensors there, and the mask of its padding."""

import numpy as np
import torch
from torch import Tensor

from tx_core.training.pretraining.batches import Batch


def moved(array: np.ndarray, device: str) -> Tensor:
    """Copy to the device; to a GPU without waiting, so that the next batch is made while it computes."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.startswith("cuda") else tensor.to(device)


def attention_mask(batch: Batch, device: str) -> Tensor | None:
    """Hide the padding; None where there is none."""
    width = batch.ids.shape[1]
    if int(batch.lengths.min()) == width:
        return None
    allowed = np.arange(width)[None, :] < batch.lengths[:, None]
    return moved(allowed, device)[:, None, None, :]
