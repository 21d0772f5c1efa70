"""Models that compute elsewhere: an engine that asks a Ray Serve application, the application, and what travels between them.

Uses `tx_core.engine`; Ray is imported in `deployment.py` only. Begin with `client.py`: with TX_ENGINE=ray the catalogue returns
such engines. `deployment.py` answers them; `messages.py` has the requests, and the bytes in which both sides write.
"""
