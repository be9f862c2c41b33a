"""A quantizer of MXFP8 in NumPy, with a bug that many have written, found and mended.

    python numpy_quantizer.py

The rule of OCP MX is a scale of 2^(floor(log2(amax)) - 8). Just below a power of two, log2 in
binary32 rounds up to the whole number: floor(log2(0x1.fffffep+9)) comes out as 10, and is 9. Random
values hardly ever meet such an amax. The suites do.
"""

import numpy

import mxcheck as mx

E4M3_LARGEST = 448
E4M3_EXPONENT_MAX = 8


def exponent_by_log2(amax):
    return numpy.floor(numpy.log2(amax)).astype(int)


def exponent_by_frexp(amax):
    return numpy.frexp(amax)[1] - 1


def encode_e4m3(values):
    """Codes of binary64 values, to the nearest, ties to even, saturated."""
    magnitude = numpy.minimum(numpy.abs(values), E4M3_LARGEST)
    # frexp says 0 of 0, as of 0.5: without this line zeros became 0.25, and mx.run said so.
    exponent = numpy.where(magnitude == 0, -6, numpy.frexp(magnitude)[1] - 1)
    exponent = numpy.maximum(exponent, -6)
    units = numpy.rint(numpy.ldexp(magnitude, 3 - exponent)).astype(int)  # 8 to 16, or subnormal
    code = units + ((exponent + 6) << 3)
    return (code + numpy.where(numpy.signbit(values), 128, 0)).astype("uint8")


def quantizer(exponent_of):
    def quantize(x):
        if x.dtype.name != "float32" or x.shape[1] % 32:
            raise NotImplementedError("whole blocks of float32 alone")
        amax = numpy.abs(x.reshape(len(x), -1, 32)).max(axis=2)
        finite = numpy.isfinite(amax) & (amax > 0)
        exponent = numpy.where(finite, exponent_of(numpy.where(finite, amax, 1)), -127)
        scale = numpy.clip(exponent - E4M3_EXPONENT_MAX, -127, 127)
        poisoned = ~numpy.isfinite(amax)
        with numpy.errstate(invalid="ignore"):
            wide = numpy.where(poisoned.repeat(32, axis=1), 0, x.astype("float64"))
        codes = encode_e4m3(numpy.ldexp(wide, -scale.repeat(32, axis=1)))
        codes[poisoned.repeat(32, axis=1)] = 0x7F
        return codes, numpy.where(poisoned, 255, scale + 127).astype("uint8")

    return quantize


def blocks_just_below_powers_of_two():
    powers = numpy.exp2(numpy.arange(-20, 20)).astype("float32")
    below = numpy.nextafter(powers, numpy.float32(0))
    return below[:, None] * numpy.ones((1, 32), "float32")


def main():
    x = blocks_just_below_powers_of_two()
    for exponent_of in (exponent_by_log2, exponent_by_frexp):
        print(f"{exponent_of.__name__}:")
        try:
            mx.assert_bits(x, *quantizer(exponent_of)(x), format="mxfp8-e4m3", dialect="ocp")
            print("  every bit is right")
        except AssertionError as failure:
            print("\n".join("  " + line[:160] for line in str(failure).splitlines()[:9]))


if __name__ == "__main__":
    main()
