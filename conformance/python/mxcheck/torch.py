"""Linear layers whose three products are quantized as a recipe says, in torch's autograd.

    layer = mx.torch.Linear(1024, 4096, recipe="MXFP8BlockScaling")
    layer.recipe = mx.torch.NVFP4BlockScaling()        # from the next step on

Every factor is quantized from the values, by mx.quantize, once along each dimension that it is
summed over; every product is mx.gemm's. Tensors of the host are read where they lie; those of a
GPU are copied to it, and results go back to where they came from.
"""

from collections import deque
from dataclasses import dataclass

import numpy

from . import _operations
from ._arrays import VALUE_DTYPES
from ._names import find_dialect
from .recipes import (
    BlockScaling,
    Float8BlockScaling,
    Float8CurrentScaling,
    Float8DelayedScaling,
    MXFP8BlockScaling,
    NVFP4BlockScaling,
    Operand,
    Recipe,
    Unquantized,
    find_recipe,
    models,
)

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as error:
    raise ImportError("mxcheck.torch needs torch; the rest of mxcheck does without") from error

__all__ = [
    "AmaxHistory",
    "BlockScaling",
    "Float8BlockScaling",
    "Float8CurrentScaling",
    "Float8DelayedScaling",
    "Linear",
    "MXFP8BlockScaling",
    "NVFP4BlockScaling",
    "Operand",
    "QuantizedWeight",
    "Recipe",
    "Unquantized",
    "linear",
    "quantize_weight",
]

_DTYPES = tuple(getattr(torch, dtype) for dtype in VALUE_DTYPES.values())
_EXTRA_STATE = "_extra_state"  # torch's name of it in a state_dict
_LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}


class AmaxHistory:
    """The amaxes of x, w and dy in earlier steps, and the scales that Float8DelayedScaling makes of
    them. Linear has one; linear() is given one, the same in every step."""

    def __init__(self):
        self._amaxes = {}
        self._scales = {}

    def scale(self, role, format):
        """What the next tensor of this role is multiplied by; 1 before the first."""
        return self._scales.get((role, format), 1.0)

    def record(self, role, format, amax, recipe):
        """What this tensor's amax means for the next one (reference/exact/delayed_scaling.cpp)."""
        if amax == 0:
            return
        amaxes = deque(self._amaxes.get((role, format), ()), recipe.history_length)
        amaxes.append(amax)
        self._amaxes[role, format] = amaxes
        chosen = numpy.float32(max(amaxes) if recipe.amax_algorithm == "max" else amax)
        if not numpy.isfinite(chosen):
            return
        largest = numpy.float32(_LARGEST[format.split("-")[1]] * 2.0**-recipe.margin)
        with numpy.errstate(over="ignore"):
            scale = largest / chosen
        self._scales[role, format] = float(min(scale, numpy.finfo("float32").max))

    def state(self):
        """All of it in lists, names and numbers, for a state_dict: [role, format, amaxes, scale]
        each."""
        return [
            [role, format, [*amaxes], self.scale(role, format)]
            for (role, format), amaxes in self._amaxes.items()
        ]

    def restore(self, state):
        """What state() gave, in place of what is here."""
        self._amaxes = {(role, format): deque(seen) for role, format, seen, _ in state}
        self._scales = {(role, format): scale for role, format, _, scale in state}


# Row `to` of TransformerEngine's transform, times 1/4: -1 where the signs' word or the shared bits
# of both indices say so (reference/spec/hadamard.hpp).
_SIGNS = 0b1101_0111_1110_1000
_HADAMARD = [
    [-0.25 if ((to & start).bit_count() ^ _SIGNS >> start) & 1 else 0.25 for start in range(16)]
    for to in range(16)
]


def _rotated(matrix):
    """Each 16 of a row transformed, summed exactly and rounded to bfloat16 once."""
    transform = torch.tensor(_HADAMARD, dtype=torch.bfloat16)
    sums = _operations.gemm(matrix.reshape(-1, 16), transform, dtype="bfloat16")
    return sums.reshape(matrix.shape)


def _check_rotation(operand, matrix, role):
    if not operand.is_rotated:
        return
    if matrix.dtype != torch.bfloat16:
        raise TypeError(
            f"{role} is {matrix.dtype}, and {operand} rotates bfloat16 alone; give bfloat16, or a "
            "recipe without rotation (disable_rht=True)"
        )
    if matrix.shape[1] % 16:
        raise ValueError(
            f"{operand} rotates each 16 of {role}, and {matrix.shape[1]} are summed over"
        )


def _amax(tensor):
    """As kernels have it: a NaN is passed over."""
    if tensor.numel() == 0:
        return 0.0
    return float(tensor.detach().abs().float().nan_to_num(nan=0.0, posinf=float("inf")).max())


@dataclass
class _Step:
    """One pass through a layer: what it is asked for, and where its state comes from."""

    recipe: Recipe
    generator: object
    history: AmaxHistory | None
    keeps: bool  # something for a backward pass
    records: bool = True  # amaxes
    weight: "QuantizedWeight | None" = None

    def __post_init__(self):
        operands = [part for role in ("x", "w", "dy") for part in self.recipe.operands(role)]
        rules = [part.rules for part in operands if part.format is not None]
        random = [rule.name for rule in rules if rule.is_stochastic]
        if random and not (isinstance(self.generator, torch.Generator) or callable(self.generator)):
            raise ValueError(
                f"{self.recipe.name} rounds stochastically ({random[0]}): give generator=, a "
                "torch.Generator or a function from a shape to its uint32 words"
            )
        if any(rule.has_history for rule in rules) and self.history is None:
            raise ValueError(
                f"{self.recipe.name} takes its scales from earlier steps: give history=, an "
                "mxcheck.torch.AmaxHistory that stays the same from step to step"
            )

    def random_bits(self, shape):
        if not isinstance(self.generator, torch.Generator):
            return self.generator(tuple(shape))
        drawn = torch.randint(
            -(2**31),
            2**31,
            tuple(shape),
            dtype=torch.int32,
            generator=self.generator,
            device=self.generator.device,
        )
        return drawn.cpu().numpy().view("uint32")

    def quantized(self, role, operand, matrix):
        """`matrix` as a factor: rows along what is summed over."""
        if operand.format is None:
            return matrix
        _check_rotation(operand, matrix, role)
        if operand.rotated:
            matrix = _rotated(matrix)
        rules = operand.rules
        return _operations.quantize(
            matrix,
            format=operand.format,
            dialect=operand.dialect,
            tensor_scale=self.history.scale(role, operand.format) if rules.has_history else None,
            random_bits=self.random_bits(matrix.shape) if rules.is_stochastic else None,
        )

    def record(self, role, tensor):
        """For the scales of the steps to come."""
        if not self.records:
            return
        formats = {
            part.format
            for part in self.recipe.operands(role)
            if part.format is not None and part.rules.has_history
        }
        for format in formats:
            self.history.record(role, format, _amax(tensor), self.recipe)

    def product(self, name, a, b, dtype, bias=None):
        """a * b^T + bias, rounded to `dtype`; `name` is that of recipes."""
        how = self.recipe.accumulation_of(name)
        if how == "f32":
            bias = None if bias is None else bias.float()
            return torch.nn.functional.linear(_values(a), _values(b), bias).to(dtype)
        if models().get(how):
            a, b = _values(a), _values(b)
        added = {"bias": bias}
        if bias is not None and dtype == torch.float32:
            # Beside a D of float32 mx_gemm has a bias of bfloat16, as libraries do, but any C.
            added = {"c": bias.expand(_rows(a), -1)}
        return _operations.gemm(a, b, model=how, alpha=_alpha(a, b), dtype=dtype, **added)


def _values(factor):
    if isinstance(factor, _operations.Quantized):
        return _operations.dequantize(factor)
    return factor.float()


def _rows(factor):
    return (factor.codes if isinstance(factor, _operations.Quantized) else factor).shape[0]


def _alpha(a, b):
    """The numbers of both tensors as libraries hand them to a kernel: A's times B's, times 1 over
    the divisors of both, each product rounded to binary32."""
    alpha, divisor = numpy.float32(1), 1
    for factor in (a, b):
        if not isinstance(factor, _operations.Quantized) or factor.tensor_scale is None:
            continue
        number_divisor = find_dialect(factor.dialect).number_divisor
        if number_divisor:
            alpha = alpha * numpy.float32(factor.tensor_scale)
            divisor *= number_divisor
    if divisor != 1:
        alpha = alpha * (numpy.float32(1) / numpy.float32(divisor))
    return float(alpha)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias, step):
        recipe, rows = step.recipe, x.reshape(-1, x.shape[-1])
        needs = [step.keeps and needed for needed in ctx.needs_input_grad[:3]]
        ctx.step, ctx.dtypes, ctx.x, ctx.w = step, (x.dtype, weight.dtype), None, None
        ctx.x_shape = x.shape
        a = step.quantized("x", recipe.fprop[0], rows)
        if needs[1]:
            ctx.x = step.quantized("x", recipe.wgrad[1], rows.t())
        if step.weight is not None:
            b, ctx.w = step.weight.rowwise, step.weight.columnwise
        else:
            b = step.quantized("w", recipe.fprop[1], weight)
            if needs[0]:
                ctx.w = step.quantized("w", recipe.dgrad[1], weight.t())
        # Codes are the layer's own; of values it must be seen whether someone changes them.
        kept = ((x, ctx.x), (weight, ctx.w))
        ctx.save_for_backward(*(part for part, own in kept if isinstance(own, torch.Tensor)))
        if any(needs):
            step.record("x", rows)
            if step.weight is None:
                step.record("w", weight)
        return step.product("fprop", a, b, x.dtype, bias).reshape(*x.shape[:-1], weight.shape[0])

    @staticmethod
    @once_differentiable
    def backward(ctx, dy):
        step, recipe = ctx.step, ctx.step.recipe
        rows = dy.reshape(-1, dy.shape[-1])
        ctx.saved_tensors  # noqa: B018 - raises where one has been changed since
        dx = dw = db = None
        if ctx.needs_input_grad[0]:
            factor = step.quantized("dy", recipe.dgrad[0], rows)
            dx = step.product("dgrad", factor, ctx.w, ctx.dtypes[0]).reshape(ctx.x_shape)
        if ctx.needs_input_grad[1]:
            factor = step.quantized("dy", recipe.wgrad[0], rows.t())
            dw = step.product("wgrad", factor, ctx.x, ctx.dtypes[1])
        if ctx.needs_input_grad[2]:
            ones = torch.ones(1, rows.shape[0], dtype=rows.dtype)
            db = _operations.gemm(rows.t(), ones, dtype=rows.dtype).reshape(-1)
        step.record("dy", rows)
        return dx, dw, db, None


@dataclass
class QuantizedWeight:
    """A weight quantized for one recipe; linear() takes it in the weight's place.

    values: the weight itself, N x K, which gets the gradient.
    rowwise, columnwise: its factors in fprop, rows along K, and in dgrad, rows along N.
    copy: of the values. Their version does not tell what `.data` has written.
    """

    values: torch.Tensor
    recipe: Recipe
    rowwise: object
    columnwise: object
    copy: torch.Tensor

    def check(self, recipe):
        """Raises ValueError where a step by `recipe` would multiply something else."""
        ours, theirs = self.recipe.operands("w"), recipe.operands("w")
        if ours != theirs:
            was, needed = (" and ".join(dict.fromkeys(map(str, those))) for those in (ours, theirs))
            raise ValueError(
                f"the weight was quantized for {self.recipe.name} ({was}), and {recipe.name} "
                f"multiplies {needed}: quantize it again, with quantize_weight"
            )
        if not _have_same_bits(self.values.detach(), self.copy):
            raise ValueError(
                "the weight has changed since it was quantized: quantize it again, with "
                "quantize_weight"
            )


def _have_same_bits(a, b):
    if (a.dtype, a.shape, a.device) != (b.dtype, b.shape, b.device):
        return False
    # As integers: a NaN equals itself, and the zeros differ.
    bits = torch.int32 if a.dtype == torch.float32 else torch.int16
    return torch.equal(a.view(bits), b.view(bits))


def _check_values(tensor, what, dimensions):
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{what} is a {type(tensor).__name__}, and a torch.Tensor is needed")
    if tensor.dtype not in _DTYPES:
        raise TypeError(
            f"{what} is {tensor.dtype}; values are float32, float16 or bfloat16: convert it, so "
            "that you know which rounding was yours"
        )
    fits = tensor.dim() >= 1 if dimensions is None else tensor.dim() == dimensions
    if not fits:
        needed = "a row" if dimensions is None else "a matrix" if dimensions == 2 else "one row"
        raise ValueError(f"{what} has shape {tuple(tensor.shape)}; {needed} is needed")


def _check_call(x, weight, bias):
    _check_values(x, "x", None)
    _check_values(weight, "weight", 2)
    if bias is not None:
        _check_values(bias, "bias", 1)
    outputs, inputs = weight.shape
    if x.shape[-1] != inputs:
        raise ValueError(
            f"rows of x have {x.shape[-1]} elements, and a weight of {outputs} x {inputs} takes "
            f"{inputs}"
        )
    if bias is not None and bias.shape[0] != outputs:
        raise ValueError(f"bias has {bias.shape[0]} elements, and there are {outputs} outputs")
    for what, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and (tensor.dtype, tensor.device) != (x.dtype, x.device):
            raise TypeError(
                f"{what} is {tensor.dtype} on {tensor.device}, and x is {x.dtype} on {x.device}: "
                "convert one, so that you know which rounding was yours"
            )


def quantize_weight(weight, recipe, *, generator=None, history=None):
    """The factors that `weight` is in fprop and in dgrad, each quantized from its values, for
    several steps of linear(). It is to be quantized again when the weight has changed.

    weight: N x K, float32, float16 or bfloat16. recipe, generator, history: as linear has them.

    Returns a QuantizedWeight. Raises TypeError and ValueError as linear does.
    """
    return _quantized_weight(weight, _Step(find_recipe(recipe), generator, history, keeps=True))


def _quantized_weight(weight, step):
    _check_values(weight, "weight", 2)
    rowwise, columnwise = step.recipe.operands("w")
    values = weight.detach()
    made = QuantizedWeight(
        weight,
        step.recipe,
        step.quantized("w", rowwise, values),
        step.quantized("w", columnwise, values.t()),
        values.clone(),
    )
    step.record("w", values)
    return made


def linear(x, weight, bias=None, *, recipe, generator=None, history=None):
    """x * weight^T + bias, with x, the weight and the gradient quantized as the recipe says.

    x: ... x K; weight: N x K, or a QuantizedWeight; bias: N. All float32, float16 or bfloat16, of
        one type, on one device.
    recipe: a Recipe, or the name of one with its usual arguments: "MXFP8BlockScaling".
    generator: of recipes that round stochastically: a torch.Generator, or a function from a shape
        to its uint32 words. Words are drawn for x, for x^T, for the weight, its transpose, for dy
        and dy^T, where these are rounded so.
    history: an AmaxHistory, of Float8DelayedScaling.

    Gives ... x N in the type of x. The bits are those of mxcheck.quantize and mxcheck.gemm with
    rows along what is summed over; the bias is added before D is rounded. Of NVFP4 alpha holds the
    numbers of both tensors, each product of it rounded to binary32, as `mxcheck gemm --model` has
    it (without a model that command keeps them unrounded). The gradient of the bias is summed
    exactly and rounded once.

    Raises TypeError and ValueError for tensors that do not fit, for a weight that was quantized for
    another recipe, for names that nothing has; NotSupported where a model does not take the
    factors. It is differentiable once.
    """
    step = _Step(find_recipe(recipe), generator, history, keeps=torch.is_grad_enabled())
    return _linear(x, weight, bias, step)


def _linear(x, weight, bias, step):
    if isinstance(weight, QuantizedWeight):
        weight.check(step.recipe)
        step.weight, weight = weight, weight.values
    _check_call(x, weight, bias)
    return _Linear.apply(x, weight, bias, step)


class Linear(torch.nn.Linear):
    """torch.nn.Linear with products as linear() makes them, and its errors.

    in_features, out_features, bias, device, dtype: as torch.nn.Linear has them.
    recipe: a Recipe or its name; it may be another one in each step.
    generator: of recipes that round stochastically, as linear() has it.
    history: the layer's AmaxHistory. It is recorded in training mode alone, where a gradient is
        needed, and is in the layer's state_dict once something is in it; a state_dict with the
        weight and without a history, such as that of a torch.nn.Linear, begins a new one.
    """

    def __init__(
        self,
        in_features,
        out_features,
        bias=True,
        device=None,
        dtype=None,
        *,
        recipe,
        generator=None,
    ):
        recipe = find_recipe(recipe)
        super().__init__(in_features, out_features, bias, device, dtype)
        self._recipe = recipe
        self.generator = generator
        self.history = AmaxHistory()
        self.quantized_weight = None

    @property
    def recipe(self):
        return self._recipe

    @recipe.setter
    def recipe(self, recipe):
        self._recipe = find_recipe(recipe)

    def _step(self, keeps):
        return _Step(self.recipe, self.generator, self.history, keeps, self.training)

    def quantize_weight(self):
        """Quantizes the weight once for the steps to come, until quantized_weight is None again; a
        weight that has changed since is refused, and so is another in its place."""
        self.quantized_weight = _quantized_weight(self.weight, self._step(keeps=True))

    def forward(self, x):
        """x: ... x in_features. Gives ... x out_features."""
        weight, kept = self.weight, self.quantized_weight
        if kept is not None and kept.values is not weight:
            raise ValueError(
                "the layer has another weight than the one that was quantized, which has changed "
                "since: quantize it again, with quantize_weight"
            )
        step = self._step(keeps=torch.is_grad_enabled())
        return _linear(x, weight if kept is None else kept, self.bias, step)

    def get_extra_state(self):
        return self.history.state()

    def set_extra_state(self, state):
        self.history.restore(state)

    # Without a history the keys are those of torch.nn.Linear, there and back.

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if not self.history.state():
            del destination[prefix + _EXTRA_STATE]

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        if prefix + "weight" in state_dict:
            state_dict.setdefault(prefix + _EXTRA_STATE, [])
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def extra_repr(self):
        return f"{super().extra_repr()}, recipe={self.recipe.name}"
