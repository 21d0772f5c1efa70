"""AttnLRP: layer-wise relevance propagation through a transformer, as a gradient that is changed at three places."""

from collections.abc import Callable, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class AttnLRP(TorchFunctionMode):
    """Within it, input × gradient of a logit is its relevance by AttnLRP (Achtibat et al. 2024, section 3.3).

    With ε = 0 the ε-rule of a linear layer (equation 8), and the rule of a softmax (proposition 3.1), are input × gradient
    already. What is changed, while the numbers of the run stay as they are:

    - a product of two activations, such as weights and values, gives half of its relevance to either (proposition 3.3);
    - a layer norm divides by a standard deviation that is held fixed (proposition 3.4);
    - an activation function hands on what it gets (equation 9): its gradient becomes f(x)/x.

    The relevance that reaches biases, position and segment embeddings stays there, and the rule of the softmax keeps some:
    that of the words does not add up to the logit.
    """

    def __torch_function__(
        self,
        function: Callable[..., object],
        types: Sequence[type],
        arguments: tuple = (),
        keywords: Mapping[str, object] | None = None,
    ) -> object:
        result = function(*arguments, **(keywords or {}))
        if function in (torch.matmul, Tensor.matmul, Tensor.__matmul__):
            return torch.matmul(*map(_halve_gradient, arguments))
        if function is torch.layer_norm:
            x, _, weight, bias, eps = arguments
            centred = x - x.mean(dim=-1, keepdim=True)
            return centred * (centred.pow(2).mean(dim=-1, keepdim=True) + eps).rsqrt().detach() * weight + bias
        if function is functional.gelu:
            (x,) = arguments
            return x * torch.where(x == 0, 0.5, result / x).detach()
        return result


def _halve_gradient(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    return x if isinstance(x, nn.Parameter) else (x + x.detach()) / 2
