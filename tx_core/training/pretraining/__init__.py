"""The parts of `python -m tx_core.training.pretrain`, from text files to a checkpoint.

In reading order: settings, command_line, corpus, vocabulary, token_store, packing, batches, device_batch, masking,
schedule, vocabulary_loss, fused_forward, muon, optimiser, run_state, clocks, training, transplant, provenance, card,
export.
"""
