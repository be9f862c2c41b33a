// A case that converts input codes one after another, or makes scales of them, needs no expected
// tensor while the device is right: its stored output is held against the runs of the exact oracle,
// at the speed of memory.
// Must not say what is wrong; the long way through expected.hpp does that.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/run/evidence.hpp"
#include "reference/exact/preimage.hpp"

namespace mx {

class ConvertTables {
public:
    // How many output codes there are, if every one of them was written and is right. 0 if any is
    // not, and for every other kind of case.
    std::uint64_t right_codes(const Case& c, const DeviceAnswer& answer);

private:
    const std::vector<exact::Run>& table_of(const Case& c);

    std::map<std::string, std::vector<exact::Run>> tables_;  // by the case's text without a place
};

}  // namespace mx
