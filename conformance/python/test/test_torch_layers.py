"""mxcheck.torch: the bits of mx.quantize and mx.gemm, of the commands, and of mxcheck train."""

import copy
import io
import json
import math
import pickle
import subprocess
import sys
import time

import numpy
import pytest

torch = pytest.importorskip("torch", reason="mxcheck.torch is a layer of torch")

import mxcheck as mx  # noqa: E402
from mxcheck._run import program  # noqa: E402

layers = mx.torch


def tensors(dtype=torch.float32, rows=64, inputs=160, outputs=96):
    """x, w, bias and dy, of many sizes, seeded."""
    generator = torch.Generator().manual_seed(7)

    def normal(*shape):
        sizes = torch.exp2(torch.randint(-6, 6, (shape[0], 1), generator=generator).float())
        return (torch.randn(*shape, generator=generator) * sizes).to(dtype)

    x, w = normal(rows, inputs).requires_grad_(), normal(outputs, inputs).requires_grad_()
    return x, w, normal(outputs, 1)[:, 0].requires_grad_(), normal(rows, outputs)


def run(arguments):
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout


def philox(seed, stream, count):
    """The first word of Philox4x32-10 at each place below `count` of a stream."""
    low = 0xFFFFFFFF
    x = [numpy.arange(count, dtype="uint64"), 0, stream, 0]
    x = [numpy.broadcast_to(numpy.uint64(word), count).copy() for word in x]
    key = [seed & low, seed >> 32]
    for _ in range(10):
        first, second = x[0] * numpy.uint64(0xD2511F53), x[2] * numpy.uint64(0xCD9E8D57)
        x = [
            (second >> numpy.uint64(32)) ^ x[1] ^ numpy.uint64(key[0]),
            second & numpy.uint64(low),
            (first >> numpy.uint64(32)) ^ x[3] ^ numpy.uint64(key[1]),
            first & numpy.uint64(low),
        ]
        key = [(key[0] + 0x9E3779B9) & low, (key[1] + 0xBB67AE85) & low]
    return [word.astype("uint32") for word in x]


def test_philox_gives_its_published_words():
    words = philox(0, 0, 1)
    assert [int(word[0]) for word in words] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def words_of(seed, stream):
    return lambda shape: philox(seed, stream, math.prod(shape))[0].reshape(shape)


def same_bits(actual, expected):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    view = torch.int32 if actual.dtype == torch.float32 else torch.int16
    different = (actual.detach().view(view) != expected.detach().view(view)).sum()
    assert different == 0, f"{different} of {actual.numel()} differ"


# --- what mx.quantize and mx.gemm give ---

# Of each recipe: the formats and dialects of x and w, of dy and w, of dy and x, as they are spelt.
MXFP8 = ("mxfp8-e4m3", "nv")
E4M3, E5M2 = ("fp8-e4m3-tensor", "te-fp8-current"), ("fp8-e5m2-tensor", "te-fp8-current")
LINE, TILE = (("fp8-e4m3-" + shape, "te-fp8-block-pow2") for shape in ("1x128", "128x128"))
FREE_LINE, FREE_TILE = ((form, "te-fp8-block") for form, _ in (LINE, TILE))
NVFP4, SQUARE = ("nvfp4", "te-nvfp4"), ("nvfp4-16x16", "te-nvfp4")
MXFP4, MXFP6 = ("mxfp4-e2m1", "ocp"), ("mxfp6-e3m2", "ocp")
SPELT = {
    "mxfp8": (layers.MXFP8BlockScaling(), [MXFP8] * 6),
    "current": (layers.Float8CurrentScaling(), [E4M3, E4M3, E5M2, E4M3, E5M2, E4M3]),
    "block": (layers.Float8BlockScaling(), [LINE, TILE, LINE, TILE, LINE, LINE]),
    "block, any scales": (
        layers.Float8BlockScaling(use_f32_scales=True),
        [FREE_LINE, FREE_TILE, FREE_LINE, FREE_TILE, FREE_LINE, FREE_LINE],
    ),
    "nvfp4": (
        layers.NVFP4BlockScaling(disable_rht=True, disable_stochastic_rounding=True),
        [NVFP4, SQUARE, NVFP4, SQUARE, NVFP4, NVFP4],
    ),
    "mxfp4 and mxfp6": (
        layers.BlockScaling("mxfp4-e2m1", "mxfp6-e3m2"),
        [MXFP4, MXFP4, MXFP6, MXFP4, MXFP6, MXFP4],
    ),
    "all different": (
        layers.Recipe(
            "own",
            *(
                (layers.Operand(*first), layers.Operand(*second))
                for first, second in ((MXFP8, MXFP4), (MXFP6, MXFP8), (MXFP4, MXFP6))
            ),
        ),
        [MXFP8, MXFP4, MXFP6, MXFP8, MXFP4, MXFP6],
    ),
}


def test_what_becomes_of_each_tensor():
    recipe, (x, w, dy, w_again, dy_again, x_again) = SPELT["all different"]
    for role, expected in (("x", (x, x_again)), ("w", (w, w_again)), ("dy", (dy, dy_again))):
        assert [(part.format, part.dialect) for part in recipe.operands(role)] == [*expected]


def alpha_of(a, b):
    """1, or of NVFP4 both amaxes over (6 * 448)^2, each step rounded to binary32."""
    if a.tensor_scale is None:
        return None
    number = numpy.float32(a.tensor_scale) * numpy.float32(b.tensor_scale)
    return float(number * (numpy.float32(1) / numpy.float32(2688**2)))


def spelt_product(a, a_rules, b, b_rules, **rest):
    a, b = (
        mx.quantize(part.detach(), format=rules[0], dialect=rules[1])
        for part, rules in ((a, a_rules), (b, b_rules))
    )
    return mx.gemm(a, b, alpha=alpha_of(a, b), **rest)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("case", SPELT)
def test_a_step_is_quantize_and_gemm(case, dtype):
    recipe, rules = SPELT[case]
    x, w, bias, dy = tensors(dtype)
    y = layers.linear(x, w, recipe=recipe)
    y.backward(dy)
    same_bits(y, spelt_product(x, rules[0], w, rules[1], dtype=dtype))
    same_bits(x.grad, spelt_product(dy, rules[2], w.T, rules[3], dtype=dtype))
    same_bits(w.grad, spelt_product(dy.T, rules[4], x.T, rules[5], dtype=dtype))


@pytest.mark.parametrize("model", ["blackwell-mx", "hopper-mx-wgmma"])
def test_a_named_model(model):
    x, w, bias, dy = tensors()
    y = layers.linear(x, w, recipe=layers.MXFP8BlockScaling(accumulation=model))
    same_bits(y, spelt_product(x, MXFP8, w, MXFP8, model=model))
    exact = layers.linear(x, w, recipe="MXFP8BlockScaling")
    assert (y != exact).any(), "this data does not tell the model from exact sums"


def test_products_of_dequantized_values():
    x, w, bias, dy = tensors()
    a, b = (
        mx.dequantize(mx.quantize(part.detach(), format="mxfp8-e4m3", dialect="nv"))
        for part in (x, w)
    )
    chain = layers.linear(x, w, recipe=layers.MXFP8BlockScaling(accumulation="fma-chain"))
    same_bits(chain, mx.gemm(a, b, model="fma-chain"))
    fast = layers.linear(x, w, recipe=layers.MXFP8BlockScaling(accumulation="f32"))
    same_bits(fast, a @ b.T)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_bias_is_added_before_the_only_rounding(dtype):
    x, w, bias, dy = tensors(dtype)
    y = layers.linear(x, w, bias, recipe="MXFP8BlockScaling")
    y.backward(dy)
    a, b = (
        mx.dequantize(mx.quantize(part.detach(), format="mxfp8-e4m3", dialect="nv")).double()
        for part in (x, w)
    )
    wide = (a @ b.T + bias.detach().double()).float().to(dtype)  # float64 has room for these sums
    same_bits(y, wide)
    same_bits(bias.grad, dy.double().sum(0).float().to(dtype))


def test_leading_dimensions_and_strides_change_nothing():
    x, w, bias, dy = tensors()
    flat = layers.linear(x, w, bias, recipe="MXFP8BlockScaling")
    deep = layers.linear(x.reshape(4, 16, -1), w, bias, recipe="MXFP8BlockScaling")
    same_bits(deep, flat.reshape(4, 16, 96))
    turned = x.detach().T.contiguous().T.requires_grad_()
    y = layers.linear(turned, w, recipe="MXFP8BlockScaling")
    y.sum().backward()  # its gradient has strides of 0
    layers.linear(x, w, recipe="MXFP8BlockScaling").backward(torch.ones(64, 96))
    same_bits(turned.grad, x.grad)


def test_no_rows_and_one_row():
    x, w, bias, dy = tensors()
    for recipe in ("MXFP8BlockScaling", "Float8DelayedScaling"):
        none = layers.linear(x[:0], w, bias, recipe=recipe, history=layers.AmaxHistory())
        none.sum().backward()
        assert none.shape == (0, 96) and (w.grad == 0).all() and (bias.grad == 0).all()
    rotated, v = (part.detach().bfloat16().requires_grad_() for part in (x[:0], w))
    layers.linear(rotated, v, recipe="NVFP4BlockScaling", generator=words_of(1, 0)).sum().backward()
    assert rotated.grad.shape == (0, 160) and (v.grad == 0).all()
    one = layers.linear(x[5], w, bias, recipe="MXFP8BlockScaling")
    same_bits(one, layers.linear(x[5:6], w, bias, recipe="MXFP8BlockScaling")[0])


# --- what the commands give ---


def command_product(folder, model, a, a_rules, b, b_rules):
    files = []
    for name, part, rules in (("a", a, a_rules), ("b", b, b_rules)):
        numpy.save(folder / f"{name}.npy", numpy.ascontiguousarray(part.detach().numpy()))
        files.append(folder / f"{name}.safetensors")
        named = ["--format", rules[0], "--dialect", rules[1], *rules[2:]]
        run(["quantize", folder / f"{name}.npy", *named, "--out", files[-1]])
    run(["gemm", *files, "--model", model, "--out", folder / "d.npy"])
    return torch.from_numpy(numpy.load(folder / "d.npy"))


@pytest.mark.parametrize(
    "case, model",
    [
        ("mxfp8", "exact"),
        ("current", "exact"),
        ("block", "exact"),
        ("mxfp4 and mxfp6", "exact"),
        ("mxfp8", "blackwell-mx"),
        ("current", "hopper-fp8-promoted"),
        ("block, any scales", ("hopper-fp8-128x128", "hopper-fp8-128x128", "hopper-fp8-1x128")),
        ("nvfp4", "blackwell-fp4"),
    ],
)
def test_a_step_is_what_the_commands_give(tmp_path, case, model):
    recipe, rules = SPELT[case]
    values = {name: getattr(recipe, name) for name in ("fprop", "dgrad", "wgrad")}
    x, w, bias, dy = tensors()
    y = layers.linear(x, w, recipe=layers.Recipe(recipe.name, accumulation=model, **values))
    y.backward(dy)
    models = (model,) * 3 if isinstance(model, str) else model
    same_bits(y, command_product(tmp_path, models[0], x, rules[0], w, rules[1]))
    same_bits(x.grad, command_product(tmp_path, models[1], dy, rules[2], w.T, rules[3]))
    same_bits(w.grad, command_product(tmp_path, models[2], dy.T, rules[4], x.T, rules[5]))


def test_delayed_scales_are_those_of_the_command(tmp_path):
    recipe = layers.Float8DelayedScaling(amax_history_len=2)
    layer = layers.Linear(160, 96, bias=False, recipe=recipe)
    x, w, bias, dy = tensors()
    amaxes, delayed = {"x": [], "w": [], "dy": []}, "te-fp8-delayed"
    for factor in (
        3.0,
        0.125,
        0.0,
        0.25,
        0.5,
    ):  # a zero moves no history, a third forgets the first
        given = {"x": x.detach() * factor, "w": w.detach() * (factor + 1), "dy": dy * factor}
        with torch.no_grad():
            layer.weight.copy_(given["w"])
        layer.zero_grad()
        y = layer(given["x"])
        y.backward(given["dy"])
        if amaxes["x"]:
            rules = {
                role: (form, delayed, "--amax-history", ",".join(f"bits:{a:#x}" for a in seen[:2]))
                for (role, seen), form in zip(amaxes.items(), (E4M3[0], E4M3[0], E5M2[0]))
            }
            here = tmp_path, "exact"
            same_bits(y, command_product(*here, given["x"], rules["x"], given["w"], rules["w"]))
            of_w = command_product(*here, given["dy"].T, rules["dy"], given["x"].T, rules["x"])
            same_bits(layer.weight.grad, of_w)
        for role, tensor in given.items():
            amax = tensor.abs().max().numpy()
            if amax != 0:
                amaxes[role].insert(0, int(amax.view("uint32")))


@pytest.mark.parametrize(
    "amaxes, options, scale",
    [
        ([], {}, 1.0),
        ([2.0], {}, 224.0),
        ([2.0, 1.0], {}, 224.0),
        ([2.0, 1.0], {"amax_compute_algo": "most_recent"}, 448.0),
        ([2.0, 1.0, 1.0], {"amax_history_len": 2}, 448.0),
        ([2.0], {"margin": 3}, 28.0),
        ([2.0, math.inf], {}, 224.0),
        ([2.0, 0.0], {"amax_compute_algo": "most_recent"}, 224.0),
        ([2.0**-149], {}, float(numpy.finfo("float32").max)),
    ],
)
def test_delayed_scales_by_hand(amaxes, options, scale):
    history = layers.AmaxHistory()
    for amax in amaxes:
        history.record("x", E4M3[0], amax, layers.Float8DelayedScaling(**options))
    assert history.scale("x", E4M3[0]) == scale


def test_a_pass_without_gradients_leaves_the_history_alone():
    layer = layers.Linear(160, 96, recipe="Float8DelayedScaling")
    x, w, bias, dy = tensors()
    with torch.no_grad():
        layer(x)
    assert layer.history.scale("x", E4M3[0]) == 1
    layer(x)
    assert layer.history.scale("x", E4M3[0]) != 1


# --- what mxcheck train reports ---


def normal(rows, columns, seed):
    """conformance/accuracy/distributions.cpp: Box and Muller, by the C library."""
    words = philox(seed, 0, rows * columns)
    u, v = ((word.astype("float64") + 0.5) * 2.0**-32 for word in words[:2])
    values = [
        math.sqrt(-2 * math.log(a)) * math.cos(2 * math.pi * b)
        for a, b in zip(u.tolist(), v.tolist())
    ]
    return torch.tensor(values, dtype=torch.float64).float().reshape(rows, columns)


def train_layers(widths, seed):
    """conformance/accuracy/training.cpp: random_layers."""
    made = []
    for i in range(1, len(widths)):
        size = numpy.float32(1) / numpy.sqrt(numpy.float32(widths[i - 1]))
        made.append(normal(widths[i], widths[i - 1], seed + i) * torch.tensor(size))
    return made


def forward(weights, values, recipe, generator):
    for weight in weights[:-1]:
        values = torch.relu(layers.linear(values, weight, recipe=recipe, generator=generator))
    return layers.linear(values, weights[-1], recipe=recipe, generator=generator)


def in_order(terms):
    return float(numpy.cumsum(terms.numpy())[-1])


def distance(actual, expected):
    actual, expected = actual.double(), expected.double()
    return math.sqrt(in_order((actual - expected) ** 2) / in_order(expected**2))


def trained(widths, rate, steps, recipe, generator=None):
    """The losses, and outputs, gradients and weights by the names of the record."""
    plain = layers.Unquantized("fma-chain")
    teacher = train_layers(widths, 100)
    weights = [weight.requires_grad_() for weight in train_layers(widths, 200)]
    losses, seen = [], {}
    for step in range(steps):
        sizes = torch.exp2(torch.tensor([i * 5 % 8 - 4.0 for i in range(widths[0])]))
        inputs = normal(64, widths[0], 1000 + step) * sizes
        wanted = forward(teacher, inputs, plain, None)
        outputs = forward(weights, inputs, recipe, generator)
        error = (outputs.detach() - wanted).double().reshape(-1)
        losses.append(in_order(error * error) / error.numel())
        gradients = torch.autograd.grad(
            outputs, weights, (2 * error / error.numel()).float().reshape(outputs.shape)
        )
        seen["last_gradient_error"] = torch.cat([part.reshape(-1) for part in gradients])
        if step == 0:
            seen["output_error"] = outputs.detach().reshape(-1)
            seen["first_gradient_error"] = seen["last_gradient_error"]
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients):
                weight -= gradient * rate
    seen["weight_error"] = torch.cat([weight.detach().reshape(-1) for weight in weights])
    return losses, seen


TASKS = {
    "linear 128 to 64": ((128, 64), 0.4),
    "network 64, 128, 128, 32": ((64, 128, 128, 32), 0.1),
}
STEPS = 3


@pytest.fixture(scope="module")
def in_binary32():
    recipe = layers.Unquantized("fma-chain")
    return {name: trained(*task, STEPS, recipe) for name, task in TASKS.items()}


@pytest.mark.parametrize(
    "form, gradient, dialect",
    [
        ("mxfp8-e4m3", "mxfp8-e5m2", "nv"),
        ("mxfp4-e2m1", "mxfp8-e4m3", "ocp"),
        ("mxfp6-e2m3", "mxfp6-e3m2", "torchao-rceil"),
        ("nvfp4", "nvfp4", "te-nvfp4"),
        ("nvfp4", "nvfp4", "te-nvfp4-sr"),
        ("nvfp4-16x16", "nvfp4", "te-nvfp4"),
        ("fp8-e4m3-1x128", "fp8-e5m2-1x128", "te-fp8-block"),
        ("fp8-e4m3-128x128", "fp8-e4m3-1x128", "te-fp8-block-pow2"),
        ("fp8-e4m3-tensor", "fp8-e5m2-tensor", "te-fp8-current"),
    ],
)
def test_steps_of_mxcheck_train(in_binary32, form, gradient, dialect):
    named = ["--format", form, "--gradient-format", gradient, "--dialect", dialect]
    curves = json.loads(run(["train", *named, "--steps", STEPS, "--json"]))
    recipe = layers.BlockScaling(form, gradient, dialect, accumulation="fma-chain")
    compared = 0
    for curve in curves:
        plain_losses, plain = in_binary32[curve["task"]]
        if curve["forward"] == "f32":
            assert curve["losses"] == plain_losses
            continue
        losses, seen = trained(*TASKS[curve["task"]], STEPS, recipe, words_of(0, 1))
        assert curve["losses"] == losses
        for error, values in seen.items():
            assert curve[error] == distance(values, plain[error]), error
        compared += 1
    assert compared == len(TASKS)


# --- rotation and random words ---


def test_rotated_operands_are_those_of_the_dialect_that_rotates():
    x, w, bias, dy = tensors(torch.bfloat16)
    step = layers._Step(layers.Unquantized(), None, None, False)
    rotated = step.quantized("x", layers.Operand("nvfp4", "te-nvfp4", rotated=True), x.detach())
    expected = mx.quantize(x.detach(), format="nvfp4", dialect="te-nvfp4-rht")
    assert (rotated.codes == expected.codes).all() and (rotated.scales == expected.scales).all()
    assert rotated.tensor_scale == expected.tensor_scale


def test_the_full_nvfp4_recipe():
    x, w, bias, dy = tensors(torch.bfloat16)
    given = {"recipe": "NVFP4BlockScaling"}
    layers.linear(x, w, generator=words_of(5, 0), **given).backward(dy)
    rotated = layers._rotated(dy.T)
    random = [words_of(5, 0)(part.shape) for part in (dy, rotated)]
    named = {"format": "nvfp4", "dialect": "te-nvfp4-sr"}
    a, turned = (
        mx.quantize(part, random_bits=words, **named) for part, words in zip((dy, rotated), random)
    )
    b = mx.quantize(w.detach().T, format="nvfp4-16x16", dialect="te-nvfp4")
    same_bits(x.grad, mx.gemm(a, b, alpha=alpha_of(a, b), dtype="bfloat16"))
    b = mx.quantize(x.detach().T, format="nvfp4", dialect="te-nvfp4-rht")
    same_bits(w.grad, mx.gemm(turned, b, alpha=alpha_of(turned, b), dtype="bfloat16"))


def test_a_generator_decides_the_words():
    recipe = layers.NVFP4BlockScaling(disable_rht=True)

    def gradient(seed):
        x, w, bias, dy = tensors()
        generator = torch.Generator().manual_seed(seed)
        layers.linear(x, w, recipe=recipe, generator=generator).backward(dy)
        return x.grad

    same_bits(gradient(1), gradient(1))
    assert (gradient(1) != gradient(2)).any()


# --- recipes switched, weights quantized before ---


def test_recipes_are_switched_between_steps():
    x, w, bias, dy = tensors()
    layer = layers.Linear(160, 96, recipe="MXFP8BlockScaling")
    with torch.no_grad():
        layer.weight.copy_(w)
        layer.bias.copy_(bias)
    for name in ("MXFP8BlockScaling", "Float8BlockScaling", "MXFP8BlockScaling"):
        layer.recipe = name
        same_bits(layer(x), layers.linear(x, w, bias, recipe=name))
        assert name in repr(layer)


def test_a_backward_pass_keeps_the_recipe_of_its_forward_pass():
    x, w, bias, dy = tensors()
    layers.linear(x, w, recipe="MXFP8BlockScaling").backward(dy)
    layer = layers.Linear(160, 96, bias=False, recipe="MXFP8BlockScaling")
    with torch.no_grad():
        layer.weight.copy_(w)
    y = layer(x.detach())
    layer.recipe = layers.BlockScaling("mxfp4-e2m1")
    y.backward(dy)
    same_bits(layer.weight.grad, w.grad)


def test_values_changed_before_the_backward_pass():
    x, w, bias, dy = tensors()
    layers.linear(x, w, recipe="MXFP8BlockScaling").backward(dy)
    changed = x.detach().clone()
    y = layers.linear(changed, w, recipe="MXFP8BlockScaling")
    expected, w.grad = w.grad, None
    changed.mul_(2)  # the factors are codes by now
    y.backward(dy)
    same_bits(w.grad, expected)
    y = layers.linear(changed, w, recipe="Unquantized")
    changed.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(dy)


def test_a_weight_quantized_before_gives_the_same_bits():
    x, w, bias, dy = tensors()
    y = layers.linear(x, w, recipe="Float8BlockScaling")
    y.backward(dy)
    expected, x.grad, w.grad = (x.grad, w.grad), None, None
    kept = layers.quantize_weight(w, "Float8BlockScaling")
    again = layers.linear(x, kept, recipe="Float8BlockScaling")
    again.backward(dy)
    for actual, right in zip((again, x.grad, w.grad), (y, *expected)):
        same_bits(actual, right)


def test_a_weight_quantized_for_another_recipe_is_refused():
    x, w, bias, dy = tensors()
    kept = layers.quantize_weight(w, "MXFP8BlockScaling")
    for recipe in ("Float8BlockScaling", layers.MXFP8BlockScaling(dialect="ocp")):
        with pytest.raises(ValueError, match="was quantized for MXFP8BlockScaling"):
            layers.linear(x, kept, recipe=recipe)
    other = layers.MXFP8BlockScaling(accumulation="f32")  # another product of the same factors
    layers.linear(x, kept, recipe=other)
    layer = layers.Linear(160, 96, recipe="MXFP8BlockScaling")
    layer.quantize_weight()
    layer(x)
    layer.recipe = "Float8BlockScaling"
    with pytest.raises(ValueError, match="quantize it again"):
        layer(x)


def test_a_weight_that_changed_since_it_was_quantized_is_refused():
    x, w, bias, dy = tensors()
    layer = layers.Linear(160, 96, recipe="MXFP8BlockScaling")
    layer.quantize_weight()
    layer(x).sum().backward()
    torch.optim.SGD(layer.parameters(), 0.1).step()
    with pytest.raises(ValueError, match="has changed since"):
        layer(x)
    layer.quantize_weight()
    layer(x)


def replace_the_weight(layer):
    layer.weight = torch.nn.Parameter(layer.weight.detach() * 2)


def replace_its_data(layer):
    layer.weight.data = layer.weight.data * 2


@pytest.mark.parametrize(
    "change",
    [
        replace_the_weight,
        replace_its_data,
        lambda layer: layer.weight.data.mul_(2),
        lambda layer: layer.weight.data[:1, :1].neg_(),
        lambda layer: layer.to(torch.bfloat16),
        lambda layer: layer.load_state_dict(
            layers.Linear(160, 96, recipe="Unquantized").state_dict()
        ),
    ],
)
def test_a_weight_that_changed_in_whatever_way_is_refused(change):
    layer = layers.Linear(160, 96, recipe="MXFP8BlockScaling")
    layer.quantize_weight()
    change(layer)
    x = tensors(layer.weight.dtype)[0]
    with pytest.raises(ValueError, match="has changed since.*quantize it again"):
        layer(x)
    layer.quantize_weight()
    layer(x)


def test_a_copied_layer_has_its_own_quantized_weight():
    x = tensors()[0]
    layer = layers.Linear(160, 96, recipe="MXFP8BlockScaling")
    layer.weight.data[0, 0] = float("nan")
    layer.weight.requires_grad_(False).mul_(1)
    layer.quantize_weight()
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        same_bits(other(x), layer(x))
        other.weight.data.mul_(2)
        with pytest.raises(ValueError, match="has changed since"):
            other(x)
    layer(x)


# --- the history of amaxes ---


def stepped(layer, steps=2):
    x, _, _, dy = tensors()
    for _ in range(steps):
        layer(x).backward(dy)
    return layer


def test_a_history_is_in_the_state_dict():
    layer = stepped(layers.Linear(160, 96, recipe="Float8DelayedScaling"))
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    other = layers.Linear(160, 96, recipe="Float8DelayedScaling")
    other.load_state_dict(torch.load(io.BytesIO(file.getvalue()), weights_only=True))
    x, _, _, dy = tensors()
    for _ in range(2):
        same_bits(other(x), layer(x))
        stepped(other, 1), stepped(layer, 1)
    assert other.history.state() == layer.history.state() and len(layer.history.state()) == 3
    first = torch.nn.Sequential(other)
    first.load_state_dict(torch.nn.Sequential(layer).state_dict())


def test_without_a_history_a_state_dict_is_that_of_torch():
    layer, plain = layers.Linear(160, 96, recipe="Float8DelayedScaling"), torch.nn.Linear(160, 96)
    plain.load_state_dict(layer.state_dict())
    stepped(layer).load_state_dict(plain.state_dict())
    assert layer.history.state() == []  # that of other weights


def test_amaxes_are_recorded_in_training_mode_alone():
    layer = stepped(layers.Linear(160, 96, recipe="Float8DelayedScaling"))
    before = layer.history.state()
    layer.eval()
    stepped(layer)
    layer.quantize_weight()
    assert layer.history.state() == before
    layer.quantized_weight = None
    layer.train()
    assert stepped(layer).history.state() != before


# --- what it costs ---


@pytest.fixture
def clock(monkeypatch):
    """Calls of mx.quantize and mx.gemm: how many elements each had, and their seconds."""
    from mxcheck import _operations

    seen = {"quantize": [], "gemm": []}

    def timed(name, function):
        def call(a, *arguments, **named):
            begin = time.perf_counter()
            result = function(a, *arguments, **named)
            elements = a.numel() if isinstance(a, torch.Tensor) else a.codes.numel()
            seen[name].append((elements, time.perf_counter() - begin))
            return result

        return call

    for name in seen:
        monkeypatch.setattr(_operations, name, timed(name, getattr(_operations, name)))
    return seen


def test_a_step_quantizes_each_tensor_whole_and_twice(clock, record_property):
    x, w, bias, dy = tensors(rows=512, inputs=1024, outputs=768)
    begin = time.perf_counter()
    layers.linear(x, w, recipe="MXFP8BlockScaling").backward(dy)
    seconds = time.perf_counter() - begin
    assert [count for count, _ in clock["quantize"]] == [
        part.numel() for part in (x, x, w, w, dy, dy)
    ]
    assert len(clock["gemm"]) == 3
    inside, products = (sum(took for _, took in clock[name]) for name in ("quantize", "gemm"))
    ratio = (seconds - products) / inside
    record_property("step_beside_its_products_over_mx_quantize", ratio)
    print(f"a step beside its products takes {ratio:.2f} times its calls of mx.quantize")


@pytest.mark.parametrize("frozen, calls", [("w", 4), ("x", 4)])
def test_what_needs_no_gradient_is_not_computed(clock, frozen, calls):
    x, w, bias, dy = tensors()
    {"x": x, "w": w}[frozen].requires_grad_(False)
    layers.linear(x, w, recipe="MXFP8BlockScaling").backward(dy)
    assert len(clock["quantize"]) == calls and len(clock["gemm"]) == 2
    clock["quantize"].clear()
    with torch.no_grad():
        layers.linear(x, w, recipe="MXFP8BlockScaling")
    assert len(clock["quantize"]) == 2


# --- bad input ---


def call(x=None, w=None, bias=None, **named):
    x_, w_, *_ = tensors()
    named.setdefault("recipe", "MXFP8BlockScaling")
    return layers.linear(x_ if x is None else x, w_ if w is None else w, bias, **named)


Operand = layers.Operand
BAD = {
    "x of float64": (TypeError, "float64", lambda: call(torch.zeros(4, 160).double())),
    "x of int32": (TypeError, "int32", lambda: call(torch.zeros(4, 160).int())),
    "x of NumPy": (TypeError, "torch.Tensor is needed", lambda: call(numpy.zeros((4, 160)))),
    "x a number": (ValueError, "a row is needed", lambda: call(torch.tensor(1.0))),
    "x of other K": (ValueError, "rows of x have 32", lambda: call(torch.zeros(4, 32))),
    "mixed types": (TypeError, "convert one", lambda: call(torch.zeros(4, 160).bfloat16())),
    "x on no device": (TypeError, "on meta", lambda: call(torch.zeros(4, 160, device="meta"))),
    "w a row": (ValueError, "a matrix is needed", lambda: call(w=torch.zeros(160))),
    "w None": (
        TypeError,
        "NoneType",
        lambda: layers.linear(torch.zeros(4), None, recipe="Unquantized"),
    ),
    "bias short": (ValueError, "bias has 3", lambda: call(bias=torch.zeros(3))),
    "bias a matrix": (ValueError, "bias has shape", lambda: call(bias=torch.zeros(96, 1))),
    "recipe misspelt": (
        ValueError,
        "did you mean 'MXFP8B",
        lambda: call(recipe="MXFP8BlockScalin"),
    ),
    "recipe a number": (TypeError, "recipe is 8", lambda: call(recipe=8)),
    "recipe unfinished": (ValueError, "no usual format", lambda: call(recipe="BlockScaling")),
    "format unknown": (ValueError, "did you mean", lambda: layers.BlockScaling("mxfp8-e4m2")),
    "dialect unknown": (ValueError, "no dialect", lambda: layers.BlockScaling(MXFP8[0], None, "n")),
    "dialect of others": (
        ValueError,
        "nv does not quantize nvfp4",
        lambda: layers.BlockScaling("nvfp4", None, "nv"),
    ),
    "dialect missing": (ValueError, "name the dialect", lambda: layers.BlockScaling("nvfp4")),
    "dialect alone": (ValueError, "not quantized", lambda: Operand(None, "nv")),
    "model unknown": (
        ValueError,
        "'blackwell-mx'",
        lambda: layers.MXFP8BlockScaling(accumulation="blackwel-mx"),
    ),
    "two models": (
        TypeError,
        "one each for fprop, dgrad, wgrad",
        lambda: layers.MXFP8BlockScaling(accumulation=("exact", "f32")),
    ),
    "model of others": (
        mx.NotSupported,
        "hopper-half",
        lambda: call(recipe=layers.MXFP8BlockScaling(accumulation="hopper-half")),
    ),
    "half rotated": (
        ValueError,
        "mean nothing",
        lambda: layers.Recipe("own", *[(Operand("nvfp4", "te-nvfp4-rht"), Operand(*NVFP4))] * 3),
    ),
    "rotated twice": (ValueError, "by itself", lambda: Operand("nvfp4", "te-nvfp4-rht", True)),
    "rotated float32": (
        TypeError,
        "bfloat16 alone",
        lambda: call(recipe="NVFP4BlockScaling", generator=torch.Generator()),
    ),
    "rotated 5 rows": (
        ValueError,
        "5 are summed",
        lambda: layers.linear(
            *(part[:5] if i == 0 else part for i, part in enumerate(tensors(torch.bfloat16)[:2])),
            recipe="NVFP4BlockScaling",
            generator=torch.Generator(),
        ),
    ),
    "no generator": (ValueError, "give generator=", lambda: call(recipe="NVFP4BlockScaling")),
    "generator a seed": (
        ValueError,
        "torch.Generator",
        lambda: call(recipe="NVFP4BlockScaling", generator=3),
    ),
    "no history": (ValueError, "give history=", lambda: call(recipe="Float8DelayedScaling")),
    "pair of names": (
        TypeError,
        "pair of Operand",
        lambda: layers.Recipe("own", *[("mxfp8-e4m3", "mxfp8-e4m3")] * 3),
    ),
    "format of FP8": (ValueError, "HYBRID", lambda: layers.Float8CurrentScaling("E5M2")),
    "layer's recipe": (ValueError, "no recipe", lambda: layers.Linear(4, 4, recipe="none")),
    "no grad": (
        RuntimeError,
        "does not require grad",
        lambda: call(*(part.detach() for part in tensors()[:2])).sum().backward(),
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_an_exception_with_a_sentence(case):
    kind, words, wrong = BAD[case]
    with pytest.raises(kind) as told:
        wrong()
    assert words in str(told.value), told.value


def test_words_of_a_wrong_shape_are_refused_in_the_backward_pass():
    x, w, bias, dy = tensors()
    recipe = layers.NVFP4BlockScaling(disable_rht=True)
    y = layers.linear(x, w, recipe=recipe, generator=lambda shape: numpy.zeros(3, "uint32"))
    with pytest.raises(ValueError, match="random_bits are uint32, of shape"):
        y.backward(dy)


def test_a_second_derivative_is_refused():
    x, w, bias, dy = tensors()
    (gradient,) = torch.autograd.grad(call(x, w).pow(2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        gradient.sum().backward()


def test_torch_is_imported_by_name_alone():
    loads = "import sys, mxcheck; assert 'torch' not in sys.modules; mxcheck.torch.linear"
    subprocess.run([sys.executable, "-c", loads], check=True)
    lacks = "import sys; sys.modules['torch'] = None; import mxcheck; mxcheck.torch"
    done = subprocess.run([sys.executable, "-c", lacks], capture_output=True, text=True)
    assert "ImportError: mxcheck.torch needs torch" in done.stderr
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        mx.nothing


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU for torch here")
@pytest.mark.parametrize("recipe", ["MXFP8BlockScaling", "NVFP4BlockScaling", "Float8BlockScaling"])
def test_on_a_gpu(recipe):
    results = []
    for device in ("cpu", "cuda"):
        x, w, bias, dy = tensors(torch.bfloat16)
        x, w, bias = (part.detach().to(device).requires_grad_() for part in (x, w, bias))
        y = layers.linear(x, w, bias, recipe=recipe, generator=words_of(1, 0))
        y.backward(dy.to(device))
        results.append((y, x.grad, w.grad, bias.grad))
    for ours, theirs in zip(*results):
        assert theirs.is_cuda
        same_bits(theirs.cpu(), ours)
