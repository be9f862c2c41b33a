// Data families: named, endless or finite lists of blocks, each block a pure function of the case
// and its index. Edges are asked of the oracle; random data only fills in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"

namespace mx {

// The input codes of one block, as many as lanes_of(case); for dequantize element codes and their
// scale.
struct BlockData {
    std::vector<std::uint32_t> lanes;
    std::uint32_t scale = 0;
};
inline BlockData block_of_zeros(std::int64_t lanes) {
    return {std::vector<std::uint32_t>(static_cast<std::size_t>(lanes)), 0};
}
inline BlockData block_of_zeros(const Case& c) {
    return block_of_zeros(lanes_of(c));
}

struct CodeTensor;

class BlockSource {
public:
    virtual ~BlockSource() = default;
    // Number of different blocks; 0 when they never end. Indices wrap around it.
    virtual std::uint64_t size() const = 0;
    virtual BlockData block(std::uint64_t index) const = 0;
    // As error: the case asks for more than there is. Families go on for ever.
    virtual Status holds(const Case&) const { return success(); }
    // Of a GEMM from a file all of its inputs; nothing of what comes in blocks, or of a family.
    virtual const std::vector<CodeTensor>* gemm_tensors() const { return nullptr; }
};

struct Family {
    std::string_view name;
    std::string_view description;
    std::string_view operations;  // those it has data for, separated by blanks
    std::unique_ptr<BlockSource> (*open)(const Case& c);
    // Its blocks hang on the operation, the input's type and the number of lanes alone: one list
    // serves every row, format and seed.
    bool ignores_rules = false;
};

const std::vector<Family>& families();
const Family* find_family(std::string_view name);

// A family held as a list.
std::unique_ptr<BlockSource> list_source(const std::vector<BlockData>& blocks);

// The lane that number i of a list of blocks singles out: each in turn, and in large blocks one far
// from the last.
inline std::size_t lane_in_turn(std::size_t i, std::size_t lanes) {
    return (lanes <= 64 ? i : i * 67) % lanes;
}

// The makers, one file per kind.
std::unique_ptr<BlockSource> open_edge_tie(const Case& c);
std::unique_ptr<BlockSource> open_edge_scale(const Case& c);
std::unique_ptr<BlockSource> open_edge_amax(const Case& c);
std::unique_ptr<BlockSource> open_edge_special(const Case& c);
std::unique_ptr<BlockSource> open_edge_mixed(const Case& c);
std::unique_ptr<BlockSource> open_codes_all(const Case& c);
std::unique_ptr<BlockSource> open_codes_random(const Case& c);
std::unique_ptr<BlockSource> open_all_bits(const Case& c);
std::unique_ptr<BlockSource> open_random_bits(const Case& c);
std::unique_ptr<BlockSource> open_random_spread(const Case& c);
std::unique_ptr<BlockSource> open_random_subnormal(const Case& c);

}  // namespace mx
