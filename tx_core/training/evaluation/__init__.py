"""The parts of `python -m tx_core.training.evaluate`: each measures one thing that a model can be shown to know.

All ask a `probe.Probe`, so that what measures can be tested on a probe that knows the answers.
"""
