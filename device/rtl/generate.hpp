// The C++ that belongs to one design: its ports as memory, its setup as a table.
#pragma once

#include <string>
#include <vector>

#include "device/rtl/description.hpp"

namespace mx::rtl {

enum class Trace { none, vcd, fst };

// What the plug-in says of itself.
struct PluginFacts {
    std::string version, simulator, notes;
};

// The source file of the plug-in around the classes Vmx_design and Vmx_known_good.
std::string plugin_source(const Setup& setup, const std::vector<DesignPort>& ports, Trace trace,
                          const PluginFacts& facts);

}  // namespace mx::rtl
