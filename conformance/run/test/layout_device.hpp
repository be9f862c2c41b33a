// A device that answers in every layout, for the tests: the oracle's bits, laid out by walking and
// not by the formulas that the harness reads them with. Goes wrong in the one way it is told.
#pragma once

#include <string>

#include "device/host/device_source.hpp"

namespace mx::test {

enum class LayoutDefect {
    none,
    nibbles_swapped,  // of every packed byte, read or written
    tiles_swapped,    // the two loops over tiles exchanged
    scales_linear,    // no tiles at all
    pads_unwritten,   // pads of outputs are left as they were
    pads_written,     // and as 0x7F
    reads_pads,       // the first value depends on the last byte of the scales
    flaky,            // the first value depends on the run
    one_code_wrong,   // the first element
};

// Takes effect in devices that start after this call.
void set_layout_defect(LayoutDefect defect);

DeviceSource layout_device();

}  // namespace mx::test
