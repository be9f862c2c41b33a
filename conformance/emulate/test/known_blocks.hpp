// Blocks whose bits are known from the dialects' sources, typed by hand. The explain and quantize
// tests share them; nothing here computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mx::emulate {

struct KnownBlock {
    const char* dialects;  // separated by blanks
    const char* values;    // f32, as explain --values takes them
    std::uint32_t scale;
    std::vector<std::uint32_t> elements;  // of e4m3; empty where the source names none
};

inline const std::vector<KnownBlock>& known_blocks() {
    static const std::vector<KnownBlock> blocks{
        // 480 and 496 lie above the largest element, 448 is it.
        {"ocp torchao-floor torchao-even", "480", 127, {0x7e}},
        {"nv torchao-rceil torchao-ceil", "480", 128, {0x77}},
        {"ocp nv torchao-floor torchao-rceil torchao-even", "448", 127, {0x7e}},
        {"torchao-ceil", "448", 128, {0x76}},
        {"ocp torchao-floor", "496", 127, {0x7e}},
        {"torchao-even torchao-rceil torchao-ceil nv", "496", 128, {}},
        {"ocp nv torchao-rceil", "1.0", 119, {0x78}},
        {"ocp torchao-floor torchao-rceil nv", "2.8", 120, {}},
        {"torchao-ceil", "2.8", 121, {}},
        {"ocp nv", "2.8,-1.2", 120, {0x7b, 0xf2}},
        {"ocp nv torchao-floor torchao-rceil torchao-even", "256,17", 127, {0x78, 0x58}},
        {"nv torchao-floor torchao-ceil torchao-even torchao-rceil", "0x1p-120", 0, {0x70}},
        {"torchao-floor torchao-ceil torchao-even torchao-rceil", "1,nan", 255, {0x7f, 0x7f}},
        {"nv", "1,nan", 119, {0x78, 0x7f}},
        {"nv", "1,inf", 254, {0x00, 0x7e}},
        {"torchao-floor torchao-ceil torchao-even torchao-rceil", "1,inf", 255, {0x7f, 0x7f}},
        {"nv", "1,-0.0", 119, {0x78, 0x80}},
        {"torchao-rceil nv", "bits:0x40600001", 121, {0x76}},
        {"torchao-floor ocp", "bits:0x43ffffff", 127, {0x7e}},
        {"torchao-rceil nv", "114688.0078125", 136, {}},
        {"torchao-floor ocp", "bits:0x437fffff", 126, {}},
        {"torchao-floor ocp", "bits:0x7f7fffff", 246, {}},
        {"torchao-even", "bits:0x7f7fffff", 255, {}},
        {"torchao-rceil nv", "bits:0x7f7fffff", 247, {}},
    };
    return blocks;
}

}  // namespace mx::emulate
