// fast/pack.hpp: every scale of every grid up to three tiles each way lies where the walk of the
// exact oracle meets it, and every pair and quadruple of narrow codes packs and unpacks alike.
#include <algorithm>

#include "reference/exact/layout.hpp"
#include "reference/fast/pack.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

constexpr std::int64_t tiles_each_way = 3;

std::string to_text(GridPlace place) {
    return std::to_string(place.row) + "," + std::to_string(place.column);
}

// One grid. That the places are a bijection follows: every byte that is no pad is the offset of the
// place that the walk met there, and there are as many of them as scales.
void prove_grid(const ScaleLayout& layout, GridShape shape, Report& report, std::string& text) {
    const auto expect = [&](bool holds, const std::string& what) {
        if (holds || ++report.mismatches > counterexamples_kept) return;
        report.counterexamples.push_back(what + " in a grid of " + std::to_string(shape.rows) +
                                         " x " + std::to_string(shape.columns));
    };
    const auto bytes = exact::walk(layout, shape);
    expect(fast::scale_bytes(layout, shape) == static_cast<std::int64_t>(bytes.size()), "size");
    std::int64_t scales = 0;
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
        ++report.count;
        text += bytes[byte] ? to_text(*bytes[byte]) + " " : ". ";
        if (!bytes[byte]) continue;
        ++scales;
        if (fast::scale_offset(layout, shape, *bytes[byte]) != static_cast<std::int64_t>(byte))
            expect(false, "scale " + to_text(*bytes[byte]) + " at byte " + std::to_string(byte));
    }
    expect(scales == shape.rows * shape.columns, "number of scales");
}

Proof scale_layout_proof(const ScaleLayout& layout) {
    const GridShape most = {tiles_each_way * fast::padded_shape(layout, {1, 1}).rows,
                            tiles_each_way * fast::padded_shape(layout, {1, 1}).columns};
    return {"scale layout " + std::string(layout.name),
            "every byte of all grids up to " + std::to_string(most.rows) + " x " +
                std::to_string(most.columns),
            [&layout, most](int threads) {
                std::vector<Report> parts(static_cast<std::size_t>(most.rows + 1));
                parallel_for(parts.size(), threads, [&](std::size_t rows) {
                    std::string text;
                    for (std::int64_t columns = 0; columns <= most.columns; ++columns)
                        prove_grid(layout, {static_cast<std::int64_t>(rows), columns}, parts[rows],
                                   text);
                    parts[rows].digest = sha256(text);
                });
                return joined(parts);
            }};
}

// Beyond three tiles by induction: in a large grid each place lies as many bytes behind the place
// of the same tile one tile before as the exact oracle's walk of two tiles says. Where that holds
// for all places up to some number of tiles, it holds for the last of them.
struct TileSteps {
    GridShape tile;
    std::int64_t inner = 0;  // bytes to the next tile along the row of tiles
    std::int64_t outer = 0;  // ... to the next row of tiles, for each tile of a row
};

// Do tiles follow each other along a row of the grid? Without tiles its rows do, whatever is outer.
bool goes_by_rows(const ScaleLayout& layout) {
    return layout.order == ScaleOrder::row_major || layout.outer == Dimension::rows;
}

// A place by its index along the dimension whose tiles lie far apart, and along the other one.
GridPlace place_of(const ScaleLayout& layout, std::int64_t outer, std::int64_t inner) {
    return goes_by_rows(layout) ? GridPlace{outer, inner} : GridPlace{inner, outer};
}

GridShape shape_of(const ScaleLayout& layout, std::int64_t outer, std::int64_t inner) {
    const GridPlace place = place_of(layout, outer, inner);
    return {place.row, place.column};
}

std::int64_t byte_in_walk(const ScaleLayout& layout, GridShape shape, GridPlace place) {
    const auto bytes = exact::walk(layout, shape);
    return std::find(bytes.begin(), bytes.end(), std::optional(place)) - bytes.begin();
}

// From the exact oracle alone: grids of two tiles along either dimension.
TileSteps tile_steps(const ScaleLayout& layout) {
    const bool is_swapped = goes_by_rows(layout) != (layout.outer == Dimension::rows);
    const std::int64_t outer = is_swapped ? layout.inner_multiple : layout.outer_multiple;
    const std::int64_t inner = is_swapped ? layout.outer_multiple : layout.inner_multiple;
    const GridShape two_inner = shape_of(layout, outer, 2 * inner);
    const GridShape two_outer = shape_of(layout, 2 * outer, inner);
    return {{outer, inner},
            byte_in_walk(layout, two_inner, place_of(layout, 0, inner)),
            byte_in_walk(layout, two_outer, place_of(layout, outer, 0))};
}

// The numbers of tiles that are asked: all up to 2^12, and those about each power of two up to
// 2^30.
std::vector<std::int64_t> numbers_of_tiles() {
    std::vector<std::int64_t> numbers;
    for (std::int64_t number = 1; number <= 1 << 12; ++number) numbers.push_back(number);
    for (int exponent = 13; exponent <= 30; ++exponent)
        for (const int beside : {-1, 0, 1})
            numbers.push_back((std::int64_t{1} << exponent) + beside);
    return numbers;
}

// Tile number `number` along each dimension, in a grid that ends with it, and one tile each way.
void prove_tile(const ScaleLayout& layout, const TileSteps& steps, std::int64_t number,
                Report& report) {
    const auto [tile_outer, tile_inner] = steps.tile;
    const std::int64_t tiles = number + 1;
    const GridShape wide = shape_of(layout, 2 * tile_outer, tiles * tile_inner);
    const GridShape tall = shape_of(layout, tiles * tile_outer, 3 * tile_inner);
    // A row of tiles is as long as its tiles. Where rows are not cut into tiles the inner step is
    // one tile's columns and the outer one the length of all its rows.
    const std::int64_t wide_row = tiles * steps.outer, tall_row = 3 * steps.outer;
    const auto expect = [&](GridShape shape, GridPlace place, std::int64_t byte) {
        ++report.count;
        const std::int64_t found = fast::scale_offset(layout, shape, place);
        if (found != byte)
            add_mismatch(report, static_cast<std::uint64_t>(number),
                         static_cast<std::uint64_t>(found), static_cast<std::uint64_t>(byte));
    };
    for (std::int64_t outer = 0; outer < tile_outer; ++outer)
        for (std::int64_t inner = 0; inner < tile_inner; ++inner) {
            // The place in the first tile, in a grid as wide: exact for up to three tiles above.
            const std::int64_t in_wide =
                fast::scale_offset(layout, wide, place_of(layout, outer, inner));
            const std::int64_t in_tall =
                fast::scale_offset(layout, tall, place_of(layout, outer, inner));
            expect(wide, place_of(layout, outer, number * tile_inner + inner),
                   in_wide + number * steps.inner);
            expect(wide, place_of(layout, tile_outer + outer, number * tile_inner + inner),
                   in_wide + wide_row + number * steps.inner);
            expect(tall, place_of(layout, number * tile_outer + outer, inner),
                   in_tall + number * tall_row);
        }
}

Proof far_tiles_proof(const ScaleLayout& layout) {
    return {"scale layout far " + std::string(layout.name),
            "every place of each tile up to 2^12 along either dimension, and of those about each "
            "power of two up to 2^30",
            [&layout](int threads) {
                const TileSteps steps = tile_steps(layout);
                const std::vector<std::int64_t> numbers = numbers_of_tiles();
                std::vector<Report> parts(numbers.size());
                parallel_for(parts.size(), threads, [&](std::size_t i) {
                    prove_tile(layout, steps, numbers[i], parts[i]);
                    parts[i].digest = sha256(std::to_string(numbers[i] * steps.inner) + " " +
                                             std::to_string(numbers[i] * steps.outer));
                });
                return joined(parts);
            }};
}

std::vector<std::uint8_t> packed_fast(CodeStream stream, const std::vector<Code>& codes) {
    const auto count = static_cast<std::int64_t>(codes.size());
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(fast::stream_bytes(stream, count)));
    for (std::int64_t i = 0; i < count; ++i)
        fast::write_code(stream, bytes.data(), i, codes[static_cast<std::size_t>(i)]);
    return bytes;
}

// True where the fast oracle reads the codes back.
bool reads_back(CodeStream stream, const std::vector<Code>& codes,
                const std::vector<std::uint8_t>& packed) {
    for (std::size_t i = 0; i < codes.size(); ++i)
        if (fast::read_code(stream, packed.data(), static_cast<std::int64_t>(i)) != codes[i])
            return false;
    return true;
}

// Both oracles pack alike and read the same codes back, and a write leaves other codes alone.
bool packs_right(CodeStream stream, const std::vector<Code>& codes,
                 const std::vector<std::uint8_t>& packed) {
    if (packed_fast(stream, codes) != packed || !reads_back(stream, codes, packed)) return false;
    if (exact::unpack(stream, packed, codes.size()) != codes) return false;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        std::vector<std::uint8_t> other = packed;
        fast::write_code(stream, other.data(), index, Code{~codes[i].bits});
        if (other == packed) return false;
        fast::write_code(stream, other.data(), index, codes[i]);
        if (other != packed) return false;
    }
    return true;
}

std::vector<Code> codes_of(CodeStream stream, int count, std::uint32_t input) {
    std::vector<Code> codes;
    for (int i = 0; i < count; ++i)
        codes.push_back(Code{input >> (i * stream.code_bits) & fast::code_mask(stream)});
    return codes;
}

std::uint32_t word_of(const std::vector<std::uint8_t>& bytes) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::uint32_t{bytes[i]} << (8 * i);
    return word;
}

Report prove_groups(CodeStream stream, int count, int threads) {
    return compare_everywhere(
        std::uint32_t{1} << (count * stream.code_bits), threads,
        [&](std::uint32_t input) {
            return word_of(exact::pack(stream, codes_of(stream, count, input)));
        },
        [&](std::uint32_t input) {
            const std::vector<Code> codes = codes_of(stream, count, input);
            const std::vector<std::uint8_t> packed = packed_fast(stream, codes);
            return reads_back(stream, codes, packed) ? word_of(packed) : ~word_of(packed);
        });
}

// Groups of up to so many codes that they fill whole bytes, in every combination.
Proof group_proof(const Packing& packing) {
    const CodeStream stream{packing.code_bits, packing.pairs};
    const int group = stream.code_bits == 4 ? 2 : 4;
    const int group_bits = group * stream.code_bits;
    return {"packing " + std::string(packing.name),
            "all 2^" + std::to_string(group_bits) + " groups of " + std::to_string(group) +
                " codes, and all shorter ones",
            [stream, group](int threads) {
                std::vector<Report> reports;
                for (int count = 1; count <= group; ++count)
                    reports.push_back(prove_groups(stream, count, threads));
                return joined(reports);
            }};
}

// Rows longer than a group: each lane takes every code, among zeros and among ones.
Report prove_rows(CodeStream stream) {
    constexpr std::size_t lanes_max = 67;
    Report report;
    std::string text;
    const std::uint32_t mask = fast::code_mask(stream);
    for (std::size_t count = 0; count <= lanes_max; ++count)
        for (std::size_t lane = 0; lane < count; ++lane)
            for (const std::uint32_t others : {std::uint32_t{0}, mask})
                for (std::uint32_t code = 0; code <= mask; ++code) {
                    std::vector<Code> codes(count, Code{others});
                    codes[lane] = Code{code};
                    const auto packed = exact::pack(stream, codes);
                    text.append(packed.begin(), packed.end());
                    ++report.count;
                    if (packs_right(stream, codes, packed)) continue;
                    if (++report.mismatches <= counterexamples_kept)
                        report.counterexamples.push_back("lane " + std::to_string(lane) + " of " +
                                                         std::to_string(count) + ", code " +
                                                         to_hex(code));
                }
    report.digest = sha256(text);
    return report;
}

// Every row length up to three blocks; the codes of three passes tell every lane from the others.
Report prove_inline(fast::InlineBlock block) {
    Report report;
    std::string text;
    for (std::int64_t columns = 0; columns <= 3 * block.block_size; ++columns)
        for (std::uint32_t pass = 0; pass < 3; ++pass) {
            exact::InlineRow row{block.stream, block.block_size, {}, {}};
            std::vector<std::uint8_t> bytes(
                static_cast<std::size_t>(fast::inline_row_bytes(block, columns)));
            for (std::int64_t column = 0; column < columns; ++column) {
                const std::uint32_t lane = static_cast<std::uint32_t>(column);
                row.codes.push_back(
                    Code{(lane >> (pass * 4) ^ lane * pass) & fast::code_mask(block.stream)});
                std::uint8_t* at = bytes.data() + fast::inline_block_offset(block, column);
                fast::write_code(block.stream, at, column % block.block_size, row.codes.back());
                if (column % block.block_size != 0) continue;
                row.scales.push_back(Code{200 - lane});
                at[fast::inline_block_bytes(block) - 1] = static_cast<std::uint8_t>(200 - lane);
            }
            const auto expected = exact::pack_inline(row);
            text.append(expected.begin(), expected.end());
            ++report.count;
            if (bytes == expected) continue;
            if (++report.mismatches <= counterexamples_kept)
                report.counterexamples.push_back("a row of " + std::to_string(columns));
        }
    report.digest = sha256(text);
    return report;
}

}  // namespace

std::vector<Proof> pack_proofs() {
    std::vector<Proof> proofs;
    for (const ScaleLayout& layout : scale_layouts) {
        proofs.push_back(scale_layout_proof(layout));
        proofs.push_back(far_tiles_proof(layout));
    }
    for (const Packing& packing : packings) {
        if (packing.code_bits == 0) continue;
        const CodeStream stream{packing.code_bits, packing.pairs};
        proofs.push_back(group_proof(packing));
        proofs.push_back({"rows " + std::string(packing.name),
                          "every code in every lane of all rows up to 67, among zeros and ones",
                          [stream](int) { return prove_rows(stream); }});
    }
    for (const int code_bits : {4, 6, 8})
        for (const int block_size : {16, 32, 64}) {
            const fast::InlineBlock block{{code_bits, PairOrder::even_first}, block_size};
            proofs.push_back({"inline scale, " + std::to_string(code_bits) + " bits, blocks of " +
                                  std::to_string(block_size),
                              "all rows up to three blocks, every lane told from the others",
                              [block](int) { return prove_inline(block); }});
        }
    return proofs;
}

}  // namespace mx::proof
