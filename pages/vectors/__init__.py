"""Where does a word lie? The tokens of some texts as points in a plane that follow their vectors through the layers; probes.

Uses `pages.ui`, and `tx_core.corpus.vectors`, which computes. Begin with `page.py`; `inputs.py` asks, `points.py` draws the
plane, `probing.py` trains probes and draws their scores.
"""
