"""How the factors of a linear layer's three products are quantized and summed.

A recipe is data and needs no torch; mxcheck.torch computes what it says, and has these names, too.
"""

import functools
import inspect
from dataclasses import dataclass

from . import _library
from ._names import Dialect, find_dialect, find_format, hint
from ._operations import chosen_dialect

__all__ = [
    "BlockScaling",
    "Float8BlockScaling",
    "Float8CurrentScaling",
    "Float8DelayedScaling",
    "MXFP8BlockScaling",
    "NVFP4BlockScaling",
    "Operand",
    "Recipe",
    "Unquantized",
]

# The factors of each product, rows of both along what is summed over: y = x * w^T, dx = dy * w and
# dw = dy^T * x.
FACTORS = {"fprop": ("x", "w"), "dgrad": ("dy", "w"), "wgrad": ("dy", "x")}


@functools.cache
def models():
    """Of each accumulation model: does it multiply plain values of float32?"""
    return {
        entry["name"]: "f32" in entry["operands"].split(", ") for entry in _library.listed("models")
    }


@dataclass(frozen=True)
class Operand:
    """How a factor is quantized, always from the values, along what the product sums over.

    format, dialect: as mxcheck.quantize takes them; without a format the values stay as they are.
    rotated: the values go through TransformerEngine's 16-point Hadamard transform first, for a
        dialect that has none of its own. Both factors of a product are rotated, or neither is.

    Raises ValueError and TypeError for names that nothing has, or that do not go together.
    """

    format: str | None = None
    dialect: str | None = None
    rotated: bool = False

    def __post_init__(self):
        if self.format is None:
            if self.dialect is not None or self.rotated:
                raise ValueError(
                    "an operand without a format is not quantized: leave the rest away"
                )
            return
        form = find_format(self.format)
        rules = chosen_dialect(form, self.dialect)
        if form.name not in rules.formats:
            served = ", ".join(rules.formats)
            raise ValueError(f"{rules.name} does not quantize {form.name}; it quantizes {served}")
        if self.rotated and rules.is_rotated:
            raise ValueError(f"{rules.name} rotates by itself: leave rotated away")
        object.__setattr__(self, "dialect", rules.name)

    def __str__(self):
        if self.format is None:
            return "values as they are"
        return f"{self.format} by {self.dialect}" + (" of rotated values" if self.rotated else "")

    @property
    def rules(self) -> Dialect | None:
        return None if self.format is None else find_dialect(self.dialect)

    @property
    def is_rotated(self):
        return self.rotated or (self.format is not None and self.rules.is_rotated)


@dataclass(frozen=True)
class Recipe:
    """What stands in the three products, and how they are summed.

    fprop, dgrad, wgrad: (Operand, Operand): of x and w, of dy and w, of dy and x.
    accumulation: "exact": sums of codes and scales, rounded once. A name of
        mxcheck.list("models"): as that machine sums; "fma-chain", "fma-parts" take the dequantized
        values, as float32. "f32": torch's own product of the dequantized values, fast, in an order
        of sums that nobody promises. Or a tuple of three, for fprop, dgrad and wgrad.
    margin, history_length, amax_algorithm: of Float8DelayedScaling.

    Raises ValueError and TypeError for what is no pair of operands, and for names that nothing has.
    """

    name: str
    fprop: tuple
    dgrad: tuple
    wgrad: tuple
    accumulation: str | tuple = "exact"
    margin: int = 0
    history_length: int = 1024
    amax_algorithm: str = "max"

    def __post_init__(self):
        for product in FACTORS:
            self._check_product(product)
        for product in FACTORS:
            _check_accumulation(self.accumulation_of(product))
        if self.amax_algorithm not in ("max", "most_recent"):
            raise ValueError(
                f'amax_algorithm is {self.amax_algorithm!r}; "max" or "most_recent" is'
            )
        if self.history_length < 1 or abs(self.margin) > 100:
            raise ValueError("a history has at least 1 amax, and a margin is from -100 to 100")

    def _check_product(self, product):
        pair = getattr(self, product)
        if not isinstance(pair, tuple) or [type(part) for part in pair] != [Operand, Operand]:
            first, second = FACTORS[product]
            raise TypeError(
                f"{product} is {pair!r}; a pair of Operand is needed, {first}, {second}"
            )
        if pair[0].is_rotated != pair[1].is_rotated:
            raise ValueError(
                f"{product} multiplies {pair[0]} with {pair[1]}: one holds rotated values and the "
                "other does not, so their products mean nothing"
            )

    def accumulation_of(self, product):
        """How "fprop", "dgrad" or "wgrad" is summed."""
        if isinstance(self.accumulation, str):
            return self.accumulation
        if not isinstance(self.accumulation, tuple) or len(self.accumulation) != len(FACTORS):
            raise TypeError(
                f"accumulation is {self.accumulation!r}; a name, or a tuple of one each for "
                f"{', '.join(FACTORS)} is needed"
            )
        return self.accumulation[list(FACTORS).index(product)]

    def operands(self, role):
        """What becomes of "x", "w" or "dy" in its products, of fprop, dgrad and wgrad."""
        return [
            getattr(self, product)[roles.index(role)]
            for product, roles in FACTORS.items()
            if role in roles
        ]


def _check_accumulation(name):
    names = ["exact", "f32", *models()]
    if name not in names:
        raise ValueError(
            f"there is no accumulation {name!r}{hint(name, names)} "
            '"exact", "f32" and the names of mxcheck.list("models") are'
        )


def _of_tensors(name, x, w, dy, **rest):
    """The recipe that quantizes each tensor in the same way for both of its products."""
    return Recipe(name, (x, w), (dy, w), (dy, x), **rest)


def _elements(fp8_format):
    """The types of x and w, and of dy."""
    if fp8_format not in ("E4M3", "HYBRID"):
        raise ValueError(
            f"fp8_format is {fp8_format!r}; E4M3, or HYBRID with dy in E5M2, is needed"
        )
    return "e4m3", "e5m2" if fp8_format == "HYBRID" else "e4m3"


def BlockScaling(format, gradient_format=None, dialect=None, accumulation="exact"):
    """x and w in one format, dy in another or the same: MXFP8, MXFP6, MXFP4, NVFP4, any that is.

    format, gradient_format: of x and w, and of dy, as quantize takes them. dialect: of both.
    accumulation: as a Recipe has it; with "fma-chain" this is what
        `mxcheck train --format --gradient-format --dialect` trains.

    Raises ValueError for names that nothing has.
    Source: conformance/accuracy/training.cpp.

    """
    w, dy = Operand(format, dialect), Operand(gradient_format or format, dialect)
    return _of_tensors("BlockScaling", w, w, dy, accumulation=accumulation)


def MXFP8BlockScaling(fp8_format="E4M3", dialect="nv", accumulation="exact"):
    """One power of two for 32 elements, along rows and again along columns.

    fp8_format: "E4M3", or "HYBRID" with dy in E5M2. dialect: the library's own kernels of bfloat16
        are "te-specialised". accumulation: as a Recipe has it.

    Raises ValueError for names that nothing has.
    Source: NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe/__init__.py,
    cast/mxfp8.

    """
    forward, backward = (Operand(f"mxfp8-{type}", dialect) for type in _elements(fp8_format))
    return _of_tensors("MXFP8BlockScaling", forward, forward, backward, accumulation=accumulation)


def Float8BlockScaling(fp8_format="E4M3", use_f32_scales=False, accumulation="exact"):
    """x and dy in blocks of 1x128, w in 128x128.

    fp8_format: "E4M3", or "HYBRID" with dy in E5M2. use_f32_scales: scales of any float32, and not
        of powers of two. accumulation: as a Recipe has it; the models of Hopper are
        ("hopper-fp8-128x128", "hopper-fp8-128x128", "hopper-fp8-1x128").

    Raises ValueError for names that nothing has.
    Source: NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe/__init__.py,
    transpose/quantize_transpose_vector_blockwise.cu, quantize_transpose_square_blockwise.cu.

    """
    dialect = "te-fp8-block" if use_f32_scales else "te-fp8-block-pow2"
    forward, backward = _elements(fp8_format)
    return _of_tensors(
        "Float8BlockScaling",
        Operand(f"fp8-{forward}-1x128", dialect),
        Operand(f"fp8-{forward}-128x128", dialect),
        Operand(f"fp8-{backward}-1x128", dialect),
        accumulation=accumulation,
    )


def Float8CurrentScaling(fp8_format="HYBRID", use_power_2_scales=False, accumulation="exact"):
    """One scale a tensor, of the tensor's own amax.

    fp8_format: "E4M3", or "HYBRID" with dy in E5M2. use_power_2_scales: scales are cut to powers of
        two. accumulation: as a Recipe has it.

    Raises ValueError for names that nothing has.
    Source: NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe/__init__.py,
    recipe/current_scaling.cu.

    """
    dialect = "te-fp8-current-pow2" if use_power_2_scales else "te-fp8-current"
    forward, backward = (Operand(f"fp8-{type}-tensor", dialect) for type in _elements(fp8_format))
    name = "Float8CurrentScaling"
    return _of_tensors(name, forward, forward, backward, accumulation=accumulation)


def Float8DelayedScaling(
    fp8_format="HYBRID",
    margin=0,
    amax_history_len=1024,
    amax_compute_algo="max",
    accumulation="exact",
):
    """One scale a tensor, of the amaxes of earlier steps, the same in both of a tensor's products.

    The scale is max / amax / 2^margin, and 1 at first. An amax of 0 changes nothing, and none that
    is not finite makes a scale.

    fp8_format: "E4M3", or "HYBRID" with dy in E5M2. amax_history_len: how many steps count, the one
        just done among them. amax_compute_algo: "max" of these, or "most_recent".
    accumulation: as a Recipe has it.

    Raises ValueError for names that nothing has and for numbers out of range.
    Source: NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe/__init__.py
    (DelayedScaling), recipe/delayed_scaling.cu; reference/exact/delayed_scaling.cpp.

    """
    forward, backward = (
        Operand(f"fp8-{type}-tensor", "te-fp8-delayed") for type in _elements(fp8_format)
    )
    return _of_tensors(
        "Float8DelayedScaling",
        forward,
        forward,
        backward,
        accumulation=accumulation,
        margin=margin,
        history_length=amax_history_len,
        amax_algorithm=amax_compute_algo,
    )


def NVFP4BlockScaling(
    disable_rht=False,
    disable_stochastic_rounding=False,
    disable_2d_quantization=False,
    accumulation="exact",
):
    """E4M3 scales for 16 elements, of w for 16x16, and a number for each tensor.

    disable_rht: otherwise both factors of wgrad are rotated; that reads bfloat16 alone, as the
        library's kernels do, and sums over multiples of 16.
    disable_stochastic_rounding: otherwise dy is rounded stochastically.
    disable_2d_quantization: w in blocks of 1x16, too. accumulation: as a Recipe has it.

    Raises ValueError for names that nothing has.
    Source: NVIDIA/TransformerEngine@d0067d0:transformer_engine/common/recipe/__init__.py,
    cast/nvfp4, hadamard_transform.

    """
    x = Operand("nvfp4", "te-nvfp4")
    w = x if disable_2d_quantization else Operand("nvfp4-16x16", "te-nvfp4")
    rounds = "te-nvfp4" if disable_stochastic_rounding else "te-nvfp4-sr"
    return Recipe(
        "NVFP4BlockScaling",
        (x, w),
        (Operand("nvfp4", rounds), w),
        (
            Operand("nvfp4", rounds, rotated=not disable_rht),
            x if disable_rht else Operand("nvfp4", "te-nvfp4-rht"),
        ),
        accumulation=accumulation,
    )


def Unquantized(accumulation="f32"):
    """Every factor as it is: what the others are measured against.

    accumulation: as a Recipe has it.

    Raises ValueError for names that nothing has.

    """
    return _of_tensors("Unquantized", *[Operand()] * 3, accumulation=accumulation)


RECIPES = {
    recipe.__name__: recipe
    for recipe in (
        BlockScaling,
        MXFP8BlockScaling,
        Float8BlockScaling,
        Float8CurrentScaling,
        Float8DelayedScaling,
        NVFP4BlockScaling,
        Unquantized,
    )
}


def find_recipe(recipe):
    """A Recipe, or the name of one of those above that stands for it with its usual arguments."""
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str):
        raise TypeError(f"recipe is {recipe!r}; a Recipe or the name of one is needed")
    if recipe not in RECIPES:
        names = ", ".join(RECIPES)
        raise ValueError(f"there is no recipe {recipe!r}{hint(recipe, RECIPES)} there are {names}")
    made = RECIPES[recipe]
    if any(part.default is part.empty for part in inspect.signature(made).parameters.values()):
        raise ValueError(f"{recipe} has no usual format: call mxcheck.torch.{recipe}(format)")
    return made()
