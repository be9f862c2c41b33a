"""Scoreboard, coverage and stimuli of mxcheck.cocotb, without a simulator; with one they are run by
conformance/dpi/test/cocotb_test.sh."""

import numpy
import pytest

import mxcheck as mx
from mxcheck.cocotb import Coverage, Scoreboard, edge_blocks, random_blocks

NAMED = {"format": "mxfp8-e4m3", "dialect": "nv"}


def packed(row, stride):
    return sum(int(code) << (stride * i) for i, code in enumerate(row))


def answers(blocks, **named):
    right = mx.quantize(blocks.view("float32"), **named)
    return right.codes.copy(), right.scales.reshape(-1).copy()


@pytest.fixture
def blocks():
    return random_blocks("mxfp8-e4m3", 500, seed=3)


def judged(board, blocks, codes, scales):
    for row, code, scale in zip(blocks, codes, scales, strict=True):
        board.expect(row)
        board.observe(code, int(scale))
    return board


def test_right_answers_pass_however_they_are_given(blocks):
    codes, scales = answers(blocks, **NAMED)
    judged(Scoreboard(**NAMED, batch=64), blocks, codes, scales).finish()
    board = Scoreboard(**NAMED)
    for row, code, scale in zip(blocks, codes, scales, strict=True):
        board.expect(packed(row, 32))
        board.observe(packed(code, 8), int(scale))
    board.finish()
    assert board.compared == 500 and board.wrong == 0


def test_codes_of_four_bits_lie_closer(blocks):
    named = {"format": "mxfp4-e2m1", "dialect": "ocp"}
    codes, scales = answers(blocks, **named)
    board = Scoreboard(**named, code_stride=4)
    for row, code, scale in zip(blocks, codes, scales, strict=True):
        board.expect(row)
        board.observe(packed(code, 4), int(scale))
    board.finish()


def test_a_wrong_code_is_counted_and_its_cause_named(blocks):
    codes, scales = answers(blocks, **NAMED)
    codes[17, 5] ^= 1
    board = judged(Scoreboard(**NAMED), blocks, codes, scales)
    with pytest.raises(AssertionError, match="(?s)500 blocks compared, 1 wrong.*rounding"):
        board.finish()


def test_a_wrong_scale_is_counted(blocks):
    codes, scales = answers(blocks, **NAMED)
    board = judged(Scoreboard(**NAMED), blocks, codes, numpy.append(scales[1:], scales[:1]))
    with pytest.raises(AssertionError, match="wrong"):
        board.finish()
    wide = Scoreboard(**NAMED)
    wide.expect(blocks[0])
    wide.observe(codes[0], 300)
    with pytest.raises(AssertionError, match="0x12c is none of e8m0"):
        wide.finish()


def test_order_and_number_of_blocks_count(blocks):
    codes, scales = answers(blocks, **NAMED)
    late = Scoreboard(**NAMED)
    for row in blocks:
        late.expect(row)
    for code, scale in zip(codes[:-1], scales[:-1], strict=True):
        late.observe(code, int(scale))
    with pytest.raises(AssertionError, match="1 that never came out"):
        late.finish()
    early = Scoreboard(**NAMED)
    early.observe(codes[0], int(scales[0]))
    with pytest.raises(AssertionError, match="1 that never went in"):
        early.finish()
    with pytest.raises(AssertionError, match="0 blocks compared"):
        Scoreboard(**NAMED).finish()


def test_unknown_bits_are_no_code(blocks):
    codes, scales = answers(blocks, **NAMED)
    board = Scoreboard(**NAMED)
    board.expect(blocks[0])
    board.observe(None, int(scales[0]))
    board.expect(blocks[1])
    board.observe(codes[1], int(scales[1]))
    with pytest.raises(AssertionError, match="1 blocks compared, 0 wrong.*1 with X or Z"):
        board.finish()


def test_what_the_dialect_leaves_open_is_no_fault():
    zeros = numpy.full((1, 32), 0x80000000, "uint32")
    codes, scales = answers(zeros, format="mxfp8-e4m3", dialect="ocp")
    assert (codes == 0x80).all()
    for strict in (False, True):
        board = Scoreboard("mxfp8-e4m3", "ocp", strict=strict)
        judged(board, zeros, codes * 0, scales)
        if strict:
            with pytest.raises(AssertionError, match="1 wrong"):
                board.finish()
        else:
            board.finish()
            assert board.deviating == 1


def test_coverage_says_which_borders_were_not_reached():
    coverage = Coverage("mxfp8-e4m3", "ocp")
    assert coverage.fraction == 0
    ones = numpy.full((1, 32), 0x3F800000, "uint32")
    codes, scales = answers(ones, format="mxfp8-e4m3", dialect="ocp")
    coverage.add(ones, codes, scales)
    assert 0 < coverage.fraction < 0.1
    assert ("value", "a NaN") in coverage.missing()
    edges = edge_blocks("mxfp8-e4m3", "ocp")
    coverage.add(edges, *answers(edges, format="mxfp8-e4m3", dialect="ocp"))
    assert coverage.fraction == 1 and coverage.missing() == []
    # 448 is the largest E4M3: ties lie below it, on each side of each code.
    named = Coverage("mxfp8-e4m3", "ocp")
    assert {("on border", "432"), ("below border", "432"), ("above border", "432")} <= set(
        named.missing()
    )
    assert "on border: 0 of" in named.report()


def test_random_blocks_are_the_same_for_a_seed_and_miss_borders():
    one, other = (random_blocks("mxfp8-e4m3", 200, seed=1) for _ in range(2))
    assert (one == other).all() and one.dtype == numpy.uint32
    coverage = Coverage("mxfp8-e4m3", "ocp")
    coverage.add(one, *answers(one, format="mxfp8-e4m3", dialect="ocp"))
    assert coverage.fraction < 0.9
    halves = random_blocks("mxfp8-e4m3", 200, "float16")
    assert halves.dtype == numpy.uint16 and mx.quantize(halves.view("float16"), **NAMED)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="no blocks along rows"):
        Scoreboard("fp8-e4m3-128x128", "te-fp8-block")
    board = Scoreboard(**NAMED)
    with pytest.raises(ValueError, match="32 unsigned integers"):
        board.expect([1, 2, 3])
    with pytest.raises(ValueError, match="32 unsigned integers"):
        board.expect(numpy.zeros(32, "float32"))
    with pytest.raises(ValueError, match="dtype is 'float64'"):
        random_blocks("mxfp8-e4m3", 1, "float64")
