"""A GEMM held to the oracle: within a derived bound, and exact.

    python gemm.py

NumPy's float32 product of MXFP8 factors sums in an order of its own and rounds each time. It
differs from the exact sums in last bits; that is no fault, and here is how such a product is
judged.
"""

import numpy

import mxcheck as mx


def factors():
    generator = numpy.random.default_rng(5)
    a = generator.normal(size=(16, 256)).astype("float32")
    b = generator.normal(size=(24, 256)).astype("float32")
    return (mx.quantize(part, format="mxfp8-e4m3", dialect="nv") for part in (a, b))


def numpy_product(a, b):
    return mx.dequantize(a) @ mx.dequantize(b).T


def main():
    a, b = factors()
    exact = mx.gemm(a, b)
    ours = numpy_product(a, b)
    print(f"{(ours != exact).sum()} of {exact.size} sums in float32 are not the exact ones")
    wide = mx.dequantize(a).astype("float64") @ mx.dequantize(b).T.astype("float64")
    mx.assert_gemm(ours, a, b)
    print("each is within the bound that is derived for it")
    mx.assert_gemm(wide.astype("float32"), a, b, model="exact")
    print("the same in float64, rounded once: every bit is right")
    lost = a.codes.copy()
    lost[:, 7] = 0  # a kernel that leaves out one k
    try:
        broken = mx.Quantized(lost, a.scales, None, a.format, a.dialect, a.axis)
        mx.assert_gemm(mx.gemm(broken, b), a, b)
    except AssertionError as failure:
        print("one k left out:", str(failure).splitlines()[0])


if __name__ == "__main__":
    main()
