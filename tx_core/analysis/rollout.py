"""Attention rollout and attention flow: how much of each input token reaches a token in a higher layer (Abnar & Zuidema 2020).

Both average the heads and give half of the weight to the residual connection. Feed-forward layers, values and layer norms
are left out.
"""

from collections import deque

import numpy as np
from jaxtyping import Float

from tx_core.errors import TextProblem

MAX_FLOW_EDGES = 4_000_000
"""The most edges that all the networks of one question may have together: some six seconds on one core."""
MIN_CAPACITY = 1e-12  # residual capacity below this is rounding error
TOO_LONG_FOR_FLOW = (
    "Attention flow solves a network of up to {edges:,} edges for every token and layer. With {layers} layers it is computed for "
    "at most {most:,} tokens, and this text has {tokens:,}: shorten it by {excess:,} tokens."
)


def add_residual(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "layer query key"]:
    """Average the heads and mix the result with the residual connection, half and half; rows sum to 1 (section 3).

    A query that attends to nothing keeps the residual connection alone.
    """
    mean = weights.mean(axis=1, dtype=np.float64)
    mixed = 0.5 * mean + 0.5 * np.eye(weights.shape[-1])
    return mixed / mixed.sum(axis=-1, keepdims=True)


def rollout(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "layer query key"]:
    """Return attention rollout: the product of the attention maps up to each layer (equation 1); rows sum to 1."""
    mixed = add_residual(weights)
    reached = [mixed[0]]
    for layer in mixed[1:]:
        reached.append(layer @ reached[-1])
    return np.stack(reached)


def flow(weights: Float[np.ndarray, "layer head query key"], query: int) -> Float[np.ndarray, "layer key"]:
    """Return attention flow: the maximum flow from one token in each layer to every input token (section 3), 0 to 1.

    The capacity of each edge is its weight.

    Raises TextProblem if the networks would be too large.
    """
    layers, _, tokens, _ = weights.shape
    depths = layers * (layers + 1) // 2
    if depths * tokens**3 > MAX_FLOW_EDGES:
        most = int((MAX_FLOW_EDGES / depths) ** (1 / 3))
        raise TextProblem(
            TOO_LONG_FOR_FLOW.format(edges=layers * tokens**2, layers=layers, most=most, tokens=tokens, excess=tokens - most)
        )
    network = Network(layers * tokens + tokens)
    for depth, mixed in enumerate(add_residual(weights)):  # node: layer * tokens + token, the input being layer 0
        for upper, row in enumerate(mixed.tolist()):
            for lower, capacity in enumerate(row):
                if capacity > MIN_CAPACITY:
                    network.connect((depth + 1) * tokens + upper, depth * tokens + lower, capacity)
    return np.array([[network.max_flow(layer * tokens + query, key) for key in range(tokens)] for layer in range(1, layers + 1)])


class Network:
    """A flow network between numbered nodes, with maximum flow by Dinic's algorithm (Dinitz 1970)."""

    def __init__(self, nodes: int):
        self._from: list[list[int]] = [[] for _ in range(nodes)]  # the edges of each node; an edge's reverse is edge ^ 1
        self._to: list[int] = []
        self._capacities: list[float] = []

    def connect(self, start: int, end: int, capacity: float) -> None:
        """Add an edge."""
        for node, other, residual in ((start, end, capacity), (end, start, 0.0)):
            self._from[node].append(len(self._to))
            self._to.append(other)
            self._capacities.append(residual)

    def max_flow(self, source: int, sink: int) -> float:
        """Return the maximum flow from source to sink; the network is not changed."""
        residual, total = self._capacities.copy(), 0.0
        while (levels := self._levels(source, sink, residual))[sink] >= 0:
            tried = [0] * len(self._from)
            while (path := self._path(source, sink, residual, levels, tried)) is not None:
                amount = min(residual[edge] for edge in path)
                total += amount
                for edge in path:
                    residual[edge] -= amount
                    residual[edge ^ 1] += amount
        return total

    def _levels(self, source: int, sink: int, residual: list[float]) -> list[int]:
        """Return the number of residual edges to each node; −1 where there is no path."""
        levels, waiting = [-1] * len(self._from), deque([source])
        levels[source] = 0
        while waiting and levels[sink] < 0:
            node = waiting.popleft()
            for edge in self._from[node]:
                other = self._to[edge]
                if levels[other] < 0 and residual[edge] > MIN_CAPACITY:
                    levels[other] = levels[node] + 1
                    waiting.append(other)
        return levels

    def _path(self, source: int, sink: int, residual: list[float], levels: list[int], tried: list[int]) -> list[int] | None:
        """Return an augmenting path through successive levels, None without one. tried: edges already exhausted, per node."""
        path, node = [], source
        while node != sink:
            edges = self._from[node]
            while tried[node] < len(edges):
                edge = edges[tried[node]]
                if residual[edge] > MIN_CAPACITY and levels[self._to[edge]] == levels[node] + 1:
                    path.append(edge)
                    node = self._to[edge]
                    break
                tried[node] += 1
            else:
                if not path:
                    return None
                edge = path.pop()
                node = self._to[edge ^ 1]
                tried[node] += 1
        return path
