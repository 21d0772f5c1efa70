"""From the name of a model and a text to a `Trace`: catalogue, download, checkpoint, tokenizer, device, engines.

Uses `tx_core.transformer`; the transformers library is imported in `hub/` only, and only when such a model is chosen.
Begin with `engine.py` (what every model can be asked), then `catalogue.py` and `bert_engine.py`. Of these only the last imports
torch: `catalogue.py` imports what computes when a model is to compute in this process. `first_view.py` answers before that.
`remote/` has the engines of models that compute elsewhere.
"""
