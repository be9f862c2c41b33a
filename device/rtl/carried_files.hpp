// The files that are compiled on the user's machine beside a verilated design, carried inside the
// program so that it needs no folder of its own: the contract, the kit, the driver.
#pragma once

#include <span>
#include <string>

namespace mx::rtl {

struct CarriedFile {
    const char* path;
    const char* text;
};

std::span<const CarriedFile> carried_files();

}  // namespace mx::rtl
