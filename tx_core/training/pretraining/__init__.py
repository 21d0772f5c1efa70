"""The parts of `python -m tx_core.training.pretrain`, from text files to a checkpoint.

In reading order: settings, corpus, vocabulary, token_store, packing, batches, masking, schedule, fused_forward,
muon, optimiser, run_state, training, export.
"""
