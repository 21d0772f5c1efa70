"""From the name of a model and a text to a `Trace`: catalogue, download, checkpoint, tokenizer, device, engines.

Uses `tx_core.transformer`; the transformers library is imported in `hub/` only, and only when such a model is chosen. Begin with
`engine.py` (the interface of every model), then `catalogue.py`, `local_engine.py` (what all models that run in this process do
alike) and `bert_engine.py`. `remote/` has the engines of models that compute elsewhere.
"""
