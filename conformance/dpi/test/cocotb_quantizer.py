"""tiny_quantizer under cocotb, as a testbench outside this tree would hold a design. The runner is
cocotb_test.py, which says by the environment which defect is planted and how many blocks are asked.
"""

import os
import time

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from mxcheck.cocotb import Scoreboard, drive, edge_blocks, random_blocks

NAMED = {"format": "mxfp8-e4m3", "dialect": "ocp"}


async def reset(dut):
    cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
    dut.defect.value = int(os.environ.get("DEFECT", "0"))
    dut.in_valid.value = 0
    dut.reset.value = 1
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.reset.value = 0


@cocotb.test()
async def borders(dut):
    """Border blocks, all of whose bins are reached."""
    await reset(dut)
    board = Scoreboard(**NAMED)
    blocks = edge_blocks(**NAMED)
    begin, busy = time.perf_counter(), time.process_time()
    await drive(dut, board, blocks[: int(os.environ.get("BLOCKS", len(blocks)))])
    board.finish()
    rate = board.compared / (time.perf_counter() - begin) * 60
    busy_rate = board.compared / (time.process_time() - busy) * 60
    print(f"MX {board.summary()}; {rate:,.0f} blocks a minute, {busy_rate:,.0f} of a processor")
    print("MX " + board.coverage.report().replace("\n", "\nMX "))
    if "BLOCKS" not in os.environ:
        assert board.coverage.fraction == 1


@cocotb.test()
async def numbers(dut):
    """Random blocks, which leave borders out."""
    await reset(dut)
    board = Scoreboard(**NAMED)
    await drive(dut, board, random_blocks(NAMED["format"], 500, seed=1))
    board.finish()
    assert board.coverage.fraction < 1
