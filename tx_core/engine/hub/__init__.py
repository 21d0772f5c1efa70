"""Models of the transformers library, run through our own `attend`: the only home of that library.

Uses `tx_core.engine` and `tx_core.transformer`; importing this package imports transformers.
Begin with `load.py`, then `hub_engine.py` and `recorder.py`.
"""

import transformers.utils

# Its losses, which nothing here computes, would import scipy, which few ask for: 40 MB of memory.
transformers.utils.is_scipy_available = lambda: False
