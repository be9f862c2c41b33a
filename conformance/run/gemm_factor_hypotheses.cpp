// See gemm_hypotheses.hpp: the factors of a GEMM, their elements and scales read from elsewhere or
// as something else.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>

#include "conformance/data/gemm_codes.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/gemm_hypotheses.hpp"
#include "reference/fast/pack.hpp"

namespace mx {
namespace {

using Row = AlteredOutput::Row;

// A or B, and which of its rows an output is made of.
struct Side {
    const char* name;
    const gemm::Factor gemm::ProblemView::*factor;
    Row AlteredOutput::*row;
    bool is_a;

    const gemm::Factor& of(const gemm::ProblemView& problem) const { return problem.*factor; }
    std::int64_t line(const gemm::ProblemView& problem, const gemm::OutputPlace& place) const {
        return is_a ? place.row : problem.row_of_b(place);
    }
    std::int64_t lines(const gemm::ProblemView& problem) const {
        if (is_a) return of(problem).rows * problem.batches;
        return of(problem).rows * (problem.shares_b ? 1 : problem.group_count());
    }
};
constexpr std::array sides{
    Side{"A", &gemm::ProblemView::a, &AlteredOutput::a, true},
    Side{"B", &gemm::ProblemView::b, &AlteredOutput::b, false},
};

// Where a device looks for what belongs at (line, at); nothing: the hypothesis says nothing of it.
struct Spot {
    std::int64_t line = 0, at = 0;
};
struct Lookup {
    std::string what;  // "are those of the row before", after whose they are
    std::function<Spot(const Spot& right)> where;
};

// The spot that lies at the index, counted along whole rows.
Spot spot_at(std::int64_t index, std::int64_t length) {
    return {index / length, index % length};
}

// Rows after which those of the first come again: of whole tiles, and for A of as many tiles of
// 128 x 128 as an A100, an H100 or a B200 makes at once.
std::set<std::int64_t> rows_begun_again(const gemm::ProblemView& problem, const Side& side) {
    constexpr std::int64_t tile = 128;
    std::set<std::int64_t> units{64, 128, 256};
    const std::int64_t across = (problem.n + tile - 1) / tile;
    for (const std::int64_t processors : {108, 132, 148})
        if (side.is_a && across > 0) units.insert(processors / across * tile);
    std::erase_if(units, [rows = side.of(problem).rows](std::int64_t unit) {
        return unit == 0 || unit >= rows;
    });
    return units;
}

// Rows of the same batch, or of another, in the place of the right one.
std::vector<Lookup> other_rows(const gemm::ProblemView& problem, const Side& side) {
    const std::int64_t rows = side.of(problem).rows, batches = problem.batches;
    std::vector<Lookup> lookups;
    const auto add = [&](const std::string& what, auto row_for) {
        lookups.push_back({what, [row_for, rows](const Spot& right) {
                               return Spot{row_for(right.line, rows), right.at};
                           }});
    };
    if (rows > 1) {
        add("are those of the row before", [](std::int64_t line, std::int64_t count) {
            return line % count == 0 ? line : line - 1;
        });
        add("are those of the first row for every row",
            [](std::int64_t line, std::int64_t count) { return line / count * count; });
    }
    for (const std::int64_t unit : rows_begun_again(problem, side))
        add("from row " + std::to_string(unit) + " on are those of row 0 on again",
            [unit](std::int64_t line, std::int64_t count) {
                return line / count * count + line % count % unit;
            });
    if (batches > 1)
        add("of later batches are those of the batch before",
            [](std::int64_t line, std::int64_t count) {
                return line < count ? line : line - count;
            });
    if (batches > 2)
        add("of batches from the third on are those of the batch before",
            [](std::int64_t line, std::int64_t count) {
                return line < 2 * count ? line : line - count;
            });
    return lookups;
}

// The batch's matrix, whose rows are `length` long, read down its columns.
Lookup down_columns(std::int64_t rows, std::int64_t length) {
    return {"are read down their columns", [rows, length](const Spot& right) {
                const std::int64_t first = right.line / rows * rows;
                const Spot spot = spot_at(right.at * rows + right.line % rows, length);
                return Spot{first + spot.line, spot.at};
            }};
}

// Of the row of an output, each element from where it is looked for.
void read_elements(const gemm::ProblemView& problem, const Side& side, const Lookup& lookup,
                   AlteredOutput& output, const gemm::OutputPlace& place) {
    const gemm::Factor& read = side.of(problem);
    Row& row = output.*side.row;
    for (std::int64_t k = 0; k < read.depth; ++k) {
        const Spot spot = lookup.where({side.line(problem, place), k});
        row.codes[static_cast<std::size_t>(k)] =
            read.codes.at(spot.line * read.depth + spot.at).bits;
    }
}

void add_elements_from_elsewhere(const gemm::ProblemView& problem, const Side& side,
                                 GemmHypotheses& hypotheses) {
    const gemm::Factor& factor = side.of(problem);
    std::vector<Lookup> lookups = other_rows(problem, side);
    if (problem.batches > 1)
        lookups.push_back({"of later batches are those of the first", [&factor](const Spot& right) {
                               return Spot{right.line % factor.rows, right.at};
                           }});
    if (factor.rows > 1 && factor.depth > 1)
        lookups.push_back(down_columns(factor.rows, factor.depth));
    for (const Lookup& lookup : lookups)
        hypotheses.push_back(altered_outputs(
            problem, "the elements of " + std::string(side.name) + " " + lookup.what,
            [&problem, &side, lookup](AlteredOutput& output, const gemm::OutputPlace& place) {
                read_elements(problem, side, lookup, output, place);
            }));
}

// What becomes of a code, where something does.
struct CodeRule {
    const char* what;  // "subnormal elements% are taken as 0": % is " of e4m3", or nothing
    bool (*applies)(const ElementFormat& format);
    std::uint32_t (*code)(const ElementFormat& format, std::uint32_t code);
};

constexpr std::array code_rules{
    CodeRule{"subnormal elements% are taken as 0",
             [](const ElementFormat& f) { return f.exponent_bits != 0 && f.mantissa_bits != 0; },
             [](const ElementFormat& f, std::uint32_t code) {
                 return f.is_subnormal(Code{code}) ? code & f.code_sign_mask() : code;
             }},
    CodeRule{"NaN elements% are taken as 0", [](const ElementFormat& f) { return f.has_nan(); },
             [](const ElementFormat& f, std::uint32_t code) {
                 return f.is_nan(Code{code}) ? 0u : code;
             }},
    CodeRule{"NaN and Inf elements% are taken as the largest number",
             [](const ElementFormat& f) { return f.has_nan(); },
             [](const ElementFormat& f, std::uint32_t code) {
                 const bool is_number = (code & f.code_magnitude_mask()) <= f.code_max_finite();
                 return is_number ? code : (code & f.code_sign_mask()) | f.code_max_finite();
             }},
    CodeRule{"elements% that are -0 are taken as NaN",
             [](const ElementFormat& f) { return f.has_negative_zero() && f.has_nan(); },
             [](const ElementFormat& f, std::uint32_t code) {
                 return code == f.code_sign_mask() ? f.code_nan() : code;
             }},
    CodeRule{"the largest element% is taken as the one below",
             [](const ElementFormat& f) { return f.exponent_bits != 0; },
             [](const ElementFormat& f, std::uint32_t code) {
                 return (code & f.code_magnitude_mask()) == f.code_max_finite() ? code - 1 : code;
             }},
    CodeRule{"the largest element% is taken as NaN",
             [](const ElementFormat& f) { return f.exponent_bits != 0 && f.has_nan(); },
             [](const ElementFormat& f, std::uint32_t code) {
                 const bool is_largest = (code & f.code_magnitude_mask()) == f.code_max_finite();
                 return is_largest ? f.code_nan() : code;
             }},
    CodeRule{
        "the signs of elements% are lost",
        [](const ElementFormat& f) { return f.exponent_bits != 0; },
        [](const ElementFormat& f, std::uint32_t code) { return code & f.code_magnitude_mask(); }},
};

std::string with_format(std::string what, const std::string& of_format) {
    const std::size_t at = what.find('%');
    return at == std::string::npos ? what : what.replace(at, 1, of_format);
}

// For every format, and for each of the two where they differ: a device decodes by format.
std::vector<std::string_view> formats_of(const gemm::ProblemView& problem) {
    std::vector<std::string_view> names{""};
    names.push_back(problem.a.element.name);
    if (problem.b.element.name != problem.a.element.name) names.push_back(problem.b.element.name);
    return names;
}

void add_code_rules(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    for (const CodeRule& rule : code_rules)
        for (const std::string_view name : formats_of(problem)) {
            const auto concerns = [&rule, name](const ElementFormat& format) {
                return (name.empty() || format.name == name) && rule.applies(format);
            };
            if (!concerns(problem.a.element) && !concerns(problem.b.element)) continue;
            const std::string of_format = name.empty() ? "" : " of " + std::string(name);
            hypotheses.push_back(
                altered_outputs(problem, with_format(rule.what, of_format),
                                [&rule, concerns](AlteredOutput& output, const gemm::OutputPlace&) {
                                    for (Row* row : {&output.a, &output.b})
                                        if (concerns(row->element))
                                            for (std::uint32_t& code : row->codes)
                                                code = rule.code(row->element, code);
                                }));
        }
}

void read_rows_as(AlteredOutput& output, std::string_view from, const ElementFormat& to) {
    for (Row* row : {&output.a, &output.b})
        if (row->element.name == from) output.read_as(*row, to);
}

bool is_fnuz(const ElementFormat& format) {
    return format.specials == Specials::nan_for_negative_zero;
}

void add_formats(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    for (const std::string_view name : formats_of(problem)) {
        if (name.empty()) continue;
        const bool is_of_a = problem.a.element.name == name;
        const ElementFormat& asked = is_of_a ? problem.a.element : problem.b.element;
        // OCP's FP8 read as FNUZ is half of it where no -0 is met: not told from a lost factor yet.
        for (const ElementFormat& other : element_formats) {
            if (other.code_bits() != asked.code_bits() || other == asked || !other.has_zero() ||
                (is_fnuz(other) && !is_fnuz(asked)))
                continue;
            hypotheses.push_back(altered_outputs(
                problem,
                "elements of " + std::string(name) + " are read as " + std::string(other.name),
                [name, &other](AlteredOutput& output, const gemm::OutputPlace&) {
                    read_rows_as(output, name, other);
                }));
        }
        if (!asked.has_nan()) continue;
        ElementFormat finite = asked;
        finite.specials = Specials::none;
        hypotheses.push_back(
            altered_outputs(problem,
                            std::string(asked.has_infinity() ? "NaN and Inf" : "NaN") + " of " +
                                std::string(name) + " are read as numbers",
                            [name, finite](AlteredOutput& output, const gemm::OutputPlace&) {
                                read_rows_as(output, name, finite);
                            }));
    }
    // The bias that OCP's format of the same name has.
    if (is_fnuz(problem.a.element) || is_fnuz(problem.b.element))
        hypotheses.push_back(altered_outputs(problem,
                                             "the exponents of FNUZ are taken as one larger",
                                             [](AlteredOutput& output, const gemm::OutputPlace&) {
                                                 for (Row* row : {&output.a, &output.b}) {
                                                     ElementFormat larger = row->element;
                                                     if (is_fnuz(larger)) --larger.exponent_bias;
                                                     output.read_as(*row, larger);
                                                 }
                                             }));
    // The one kernel has one format.
    const ElementFormat &a = problem.a.element, &b = problem.b.element;
    if (a == b || a.code_bits() != b.code_bits()) return;
    hypotheses.push_back(altered_outputs(
        problem, "B is read in the format of A",
        [&a](AlteredOutput& output, const gemm::OutputPlace&) { output.read_as(output.b, a); }));
    hypotheses.push_back(altered_outputs(
        problem, "A is read in the format of B",
        [&b](AlteredOutput& output, const gemm::OutputPlace&) { output.read_as(output.a, b); }));
}

bool is_infinite(const Row& row, std::size_t k) {
    return row.element.is_infinity(Code{row.codes[k]});
}
bool is_zero(const Row& row, std::size_t k) {
    return row.element.is_zero(Code{row.codes[k]});
}

void add_products(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    if (problem.a.element.has_infinity() || problem.b.element.has_infinity())
        hypotheses.push_back(altered_outputs(
            problem, "Inf times 0 counts as 0",
            [](AlteredOutput& output, const gemm::OutputPlace&) {
                for (std::size_t k = 0; k < output.a.codes.size(); ++k) {
                    const bool meets = (is_infinite(output.a, k) && is_zero(output.b, k)) ||
                                       (is_infinite(output.b, k) && is_zero(output.a, k));
                    if (meets) output.a.codes[k] = output.b.codes[k] = 0;
                }
            }));
}

// FP4 in pairs: the neighbour's half of the byte.
void add_pairs(const Problem& p, const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    for (const Side& side : sides) {
        const bool is_packed =
            side.of(problem).element.code_bits() == 4 && p.packing != &packing_rows::bytes;
        if (!is_packed) continue;
        hypotheses.push_back(altered_outputs(
            problem, "the two codes of a byte of " + std::string(side.name) + " are exchanged",
            [&side](AlteredOutput& output, const gemm::OutputPlace&) {
                std::vector<std::uint32_t>& codes = (output.*side.row).codes;
                for (std::size_t k = 0; k + 1 < codes.size(); k += 2)
                    std::swap(codes[k], codes[k + 1]);
            }));
    }
}

// Scales of blocks, as a grid of lines.
struct Grid {
    std::int64_t lines = 0, length = 0;
};
Grid grid_of(const gemm::ProblemView& problem, const Side& side) {
    const gemm::Factor& factor = side.of(problem);
    const bool is_plain = factor.scaling == gemm::Scaling::blocks && factor.block_rows == 1;
    if (!is_plain || factor.depth == 0) return {};
    return {side.lines(problem), (factor.depth + factor.block - 1) / factor.block};
}

constexpr std::int64_t pad = -1;      // read as what pads hold
constexpr std::int64_t outside = -2;  // nobody knows what is read
constexpr auto pad_code = std::to_integer<std::uint32_t>(first_input_pad);

using Offset = std::function<std::int64_t(const Spot& spot)>;

struct Storage {
    std::string name;
    Offset offset;
    std::int64_t bytes = 0;
};
std::vector<Storage> storages_of(const Grid& grid) {
    std::vector<Storage> storages{{"linear",
                                   [grid](const Spot& s) { return s.line * grid.length + s.at; },
                                   grid.lines * grid.length}};
    for (const ScaleLayout& layout : scale_layouts) {
        if (layout.axis != BlockAxis::row) continue;
        const GridShape shape{grid.lines, grid.length};
        storages.push_back({std::string(layout.name),
                            [&layout, shape](const Spot& s) {
                                return fast::scale_offset(layout, shape, {s.line, s.at});
                            },
                            fast::scale_bytes(layout, shape)});
    }
    return storages;
}

// The grid's index of what a device finds that looks as in `read` in a buffer that is `written`.
using Found = std::shared_ptr<std::vector<std::int64_t>>;
Found found_in(const Grid& grid, const Storage& written, const Storage& read) {
    std::vector<std::int64_t> held(static_cast<std::size_t>(written.bytes), pad);
    const auto each = [&grid](const auto& visit) {
        for (std::int64_t line = 0; line < grid.lines; ++line)
            for (std::int64_t at = 0; at < grid.length; ++at) visit(Spot{line, at});
    };
    each([&](const Spot& s) {
        held[static_cast<std::size_t>(written.offset(s))] = s.line * grid.length + s.at;
    });
    auto found = std::make_shared<std::vector<std::int64_t>>();
    each([&](const Spot& s) {
        const std::int64_t offset = read.offset(s);
        found->push_back(offset < written.bytes ? held[static_cast<std::size_t>(offset)] : outside);
    });
    return found;
}

bool is_asked(const Problem& p, const Storage& storage) {
    for (const ScaleLayout& layout : scale_layouts)
        if (layout.axis == BlockAxis::row && storage.name == layout.name)
            return layout.storage == p.scales;
    return p.scales == ScaleStorage::linear;
}

void look_in(const gemm::ProblemView& problem, const Side& side, const Found& found,
             AlteredOutput& output, const gemm::OutputPlace& place) {
    if (found == nullptr) return;
    Row& row = output.*side.row;
    const auto length = static_cast<std::int64_t>(row.scales.size());
    for (std::int64_t at = 0; at < length; ++at) {
        const std::int64_t index =
            (*found)[static_cast<std::size_t>(side.line(problem, place) * length + at)];
        row.scales[static_cast<std::size_t>(at)] =
            index < 0 ? pad_code : side.of(problem).scales.at(index).bits;
    }
}

// Both factors' scales lie alike, and are looked for alike.
void add_layouts(const Problem& p, const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    std::array<std::vector<Storage>, 2> storages;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const Grid grid = grid_of(problem, sides[i]);
        if (grid.lines * grid.length > 0) storages[i] = storages_of(grid);
    }
    const std::vector<Storage>& names = storages[0].empty() ? storages[1] : storages[0];
    for (std::size_t read = 0; read < names.size(); ++read)
        for (std::size_t written = 0; written < names.size(); ++written) {
            if (read == written || !is_asked(p, names[written])) continue;
            std::array<Found, 2> found;
            for (std::size_t i = 0; i < sides.size(); ++i)
                if (!storages[i].empty())
                    found[i] = found_in(grid_of(problem, sides[i]), storages[i][written],
                                        storages[i][read]);
            const bool is_known = std::ranges::none_of(found, [](const Found& each) {
                return each != nullptr && std::ranges::find(*each, outside) != each->end();
            });
            if (!is_known) continue;
            hypotheses.push_back(altered_outputs(
                problem,
                "scales that lie as " + names[written].name + " are read as " + names[read].name,
                [&problem, found](AlteredOutput& output, const gemm::OutputPlace& place) {
                    for (std::size_t i = 0; i < sides.size(); ++i)
                        look_in(problem, sides[i], found[i], output, place);
                }));
        }
}

// Tiles of 128 rows that begin anew with each batch, in a buffer where they count on.
void add_tiles_of_batches(const Problem& p, const gemm::ProblemView& problem,
                          GemmHypotheses& hypotheses) {
    if (p.scales != ScaleStorage::tiles_128x4 || problem.batches == 1) return;
    std::array<Found, 2> found;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const Grid grid = grid_of(problem, sides[i]);
        if (grid.lines * grid.length == 0) continue;
        const std::int64_t rows = sides[i].of(problem).rows;
        for (Storage& written : storages_of(grid)) {
            if (!is_asked(p, written)) continue;
            Storage read = written;
            read.offset = [rows, offset = written.offset](const Spot& s) {
                const std::int64_t whole = (rows + 127) / 128 * 128;
                return offset({s.line / rows * whole + s.line % rows, s.at});
            };
            found[i] = found_in(grid, written, read);
            for (std::int64_t& index : *found[i]) index = std::max(index, pad);
        }
    }
    hypotheses.push_back(
        altered_outputs(problem, "the scales of each batch are looked for in tiles of its own",
                        [&problem, found](AlteredOutput& output, const gemm::OutputPlace& place) {
                            for (std::size_t i = 0; i < sides.size(); ++i)
                                look_in(problem, sides[i], found[i], output, place);
                        }));
}

// Of each row of a factor the one where its scales lie, in tiles that begin anew with each group.
struct TileRows {
    std::vector<std::int64_t> of_line;
    std::int64_t count = 0;
};
TileRows tile_rows(const gemm::ProblemView& problem, const Side& side, std::int64_t unit) {
    TileRows rows;
    for (std::int64_t group = 0; group < problem.group_count(); ++group) {
        const std::int64_t lines = side.is_a ? problem.rows_of_group(group).count() : problem.n;
        for (std::int64_t line = 0; line < lines; ++line) rows.of_line.push_back(rows.count + line);
        rows.count += (lines + unit - 1) / unit * unit;
    }
    return rows;
}

// The rows of a grouped product's factor looked for as if they followed one another.
void add_groups_without_pads(const Problem& p, const gemm::ProblemView& problem, const Side& side,
                             GemmHypotheses& hypotheses) {
    const ScaleLayout* layout = scale_layout_for(p.scales, BlockAxis::row);
    const Grid grid = grid_of(problem, side);
    if (layout == nullptr || grid.lines * grid.length == 0) return;
    const TileRows rows = tile_rows(problem, side, layout->outer_multiple);
    const GridShape shape{rows.count, grid.length};
    const Storage read{std::string(layout->name),
                       [=](const Spot& s) {
                           return fast::scale_offset(*layout, shape, {s.line, s.at});
                       },
                       fast::scale_bytes(*layout, shape)};
    Storage written = read;
    written.offset = [offset = read.offset, rows](const Spot& s) {
        return offset({rows.of_line[static_cast<std::size_t>(s.line)], s.at});
    };
    const Found found = found_in(grid, written, read);
    hypotheses.push_back(altered_outputs(
        problem,
        "the scales of " + std::string(side.name) +
            " are looked for as if its groups had no pads between them",
        [&problem, &side, found](AlteredOutput& output, const gemm::OutputPlace& place) {
            look_in(problem, side, found, output, place);
        }));
}

// Of the row of an output, each scale from where it is looked for, in `from`.
void read_scales(const gemm::ProblemView& problem, const Side& side, const Side& from,
                 const Lookup& lookup, AlteredOutput& output, const gemm::OutputPlace& place) {
    Row& row = output.*side.row;
    const auto length = static_cast<std::int64_t>(row.scales.size());
    for (std::int64_t at = 0; at < length; ++at) {
        const Spot spot = lookup.where({side.line(problem, place), at});
        row.scales[static_cast<std::size_t>(at)] =
            from.of(problem).scales.at(spot.line * length + spot.at).bits;
    }
}

std::vector<Lookup> repeated_blocks(std::int64_t length) {
    std::vector<Lookup> lookups;
    for (const std::int64_t unit : {1, 2, 4, 8, 16, 32, 64})
        if (length > unit)
            lookups.push_back(
                {"from block " + std::to_string(unit) + " on are those of block 0 on again",
                 [unit](const Spot& s) {
                     return Spot{s.line, s.at % unit};
                 }});
    return lookups;
}

// Each element of a block by its own scale: that of the next block for the last of them.
void take_next_scale_last(Row& row) {
    const auto block = static_cast<std::size_t>(row.block);
    std::vector<std::uint32_t> scales;
    for (std::size_t k = 0; k < row.codes.size(); ++k)
        scales.push_back(row.scales[std::min((k + 1) / block, row.scales.size() - 1)]);
    row.scales = std::move(scales);
    row.block = 1;
}

// Where they are not as many rows, those of the other begin again at its end.
void add_exchanged_scales(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    if (problem.m == problem.n || problem.is_grouped()) return;
    hypotheses.push_back(altered_outputs(
        problem, "A takes the scales of B, and B those of A",
        [&problem](AlteredOutput& output, const gemm::OutputPlace& place) {
            for (std::size_t i = 0; i < sides.size(); ++i) {
                const std::int64_t lines = sides[1 - i].lines(problem);
                const Lookup begins_again{"", [lines](const Spot& right) {
                                              return Spot{right.line % lines, right.at};
                                          }};
                read_scales(problem, sides[i], sides[1 - i], begins_again, output, place);
            }
        }));
}

// Both factors by one loop over the blocks, or by one index that is off.
void add_scales_of_both(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const Grid a = grid_of(problem, sides[0]), b = grid_of(problem, sides[1]);
    if (a.length < 2 || a.length != b.length || problem.a.block != problem.b.block) return;
    add_exchanged_scales(problem, hypotheses);
    for (const Lookup& lookup : repeated_blocks(a.length))
        hypotheses.push_back(altered_outputs(
            problem, "the scales of A and B " + lookup.what,
            [&problem, lookup](AlteredOutput& output, const gemm::OutputPlace& place) {
                for (const Side& side : sides)
                    read_scales(problem, side, side, lookup, output, place);
            }));
    hypotheses.push_back(altered_outputs(
        problem, "the last element of a block of A and B takes the scale of the next block",
        [](AlteredOutput& output, const gemm::OutputPlace&) {
            for (Row* row : {&output.a, &output.b}) take_next_scale_last(*row);
            output.look_at_rows();
        }));
}

void add_scales_from_elsewhere(const gemm::ProblemView& problem, const Side& side,
                               GemmHypotheses& hypotheses) {
    const Grid grid = grid_of(problem, side);
    if (grid.lines * grid.length < 2) return;
    std::vector<Lookup> lookups = other_rows(problem, side);
    if (grid.length > 1) {
        lookups.push_back(down_columns(side.of(problem).rows, grid.length));
        lookups.push_back({"are those of the next block", [grid](const Spot& s) {
                               return Spot{s.line, std::min(s.at + 1, grid.length - 1)};
                           }});
    }
    for (Lookup& lookup : repeated_blocks(grid.length)) lookups.push_back(std::move(lookup));
    for (const Lookup& lookup : lookups)
        hypotheses.push_back(altered_outputs(
            problem, "the scales of " + std::string(side.name) + " " + lookup.what,
            [&problem, &side, lookup](AlteredOutput& output, const gemm::OutputPlace& place) {
                read_scales(problem, side, side, lookup, output, place);
            }));
}

// Elements and scales of another row.
void add_other_rows(const gemm::ProblemView& problem, const Side& side,
                    GemmHypotheses& hypotheses) {
    const bool has_scales = grid_of(problem, side).lines > 0;
    for (const Lookup& lookup : other_rows(problem, side))
        hypotheses.push_back(
            altered_outputs(problem, "the rows of " + std::string(side.name) + " " + lookup.what,
                            [&problem, &side, lookup, has_scales](AlteredOutput& output,
                                                                  const gemm::OutputPlace& place) {
                                read_elements(problem, side, lookup, output, place);
                                if (has_scales)
                                    read_scales(problem, side, side, lookup, output, place);
                            }));
}

std::uint32_t one_of(const Row& row) {
    return code_of_one(row.scale_format);
}

// What becomes of a row whose scale is this one.
struct ScaleRule {
    const char* what;
    void (*alter)(Row& row, std::size_t block);
};

void clear_block(Row& row, std::size_t block) {
    const auto size = static_cast<std::size_t>(row.block);
    const std::size_t end = std::min((block + 1) * size, row.codes.size());
    std::fill(row.codes.begin() + static_cast<std::ptrdiff_t>(block * size),
              row.codes.begin() + static_cast<std::ptrdiff_t>(end), 0u);
}
bool has_nan_scale(const Row& row, std::size_t block) {
    return row.scale_format.is_nan(Code{row.scales[block]});
}
bool is_e8m0(const Row& row) {
    return row.scale_format.name == formats::e8m0.name;
}

constexpr std::array scale_rules{
    ScaleRule{"scales of E8M0 code 0, which are 2^-127, are flushed to 0",
              [](Row& row, std::size_t block) {
                  if (is_e8m0(row) && row.scales[block] == 0) clear_block(row, block);
              }},
    ScaleRule{"NaN scales are taken as 1",
              [](Row& row, std::size_t block) {
                  if (has_nan_scale(row, block)) row.scales[block] = one_of(row);
              }},
    ScaleRule{"NaN scales are taken as the largest scale",
              [](Row& row, std::size_t block) {
                  if (has_nan_scale(row, block))
                      row.scales[block] = row.scale_format.code_max_finite();
              }},
    ScaleRule{"blocks with a NaN scale are taken as 0",
              [](Row& row, std::size_t block) {
                  if (!has_nan_scale(row, block)) return;
                  row.scales[block] = one_of(row);
                  clear_block(row, block);
              }},
    ScaleRule{"a NaN scale does not count where all its elements are 0",
              [](Row& row, std::size_t block) {
                  const auto size = static_cast<std::size_t>(row.block);
                  const std::size_t end = std::min((block + 1) * size, row.codes.size());
                  bool are_zeros = has_nan_scale(row, block);
                  for (std::size_t k = block * size; k < end; ++k)
                      are_zeros = are_zeros && is_zero(row, k);
                  if (are_zeros) row.scales[block] = one_of(row);
              }},
    ScaleRule{"the largest scale is taken as the one below",
              [](Row& row, std::size_t block) {
                  if (row.scales[block] == row.scale_format.code_max_finite()) --row.scales[block];
              }},
    ScaleRule{"scales are taken as the next larger",
              [](Row& row, std::size_t block) {
                  if (row.scales[block] < row.scale_format.code_max_finite()) ++row.scales[block];
              }},
    ScaleRule{"scales are taken as the next smaller",
              [](Row& row, std::size_t block) {
                  if (row.scales[block] != 0 && !has_nan_scale(row, block)) --row.scales[block];
              }},
};

bool has_block_scales(const gemm::Factor& factor) {
    return factor.scaling == gemm::Scaling::blocks;
}

void add_scale_rules(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    if (!has_block_scales(problem.a) && !has_block_scales(problem.b)) return;
    for (const ScaleRule& rule : scale_rules)
        hypotheses.push_back(altered_outputs(
            problem, rule.what, [&rule, &problem](AlteredOutput& output, const gemm::OutputPlace&) {
                for (const Side& side : sides) {
                    if (!has_block_scales(side.of(problem))) continue;
                    Row& row = output.*side.row;
                    for (std::size_t at = 0; at < row.scales.size(); ++at) rule.alter(row, at);
                }
            }));
}

// What NaN is in E8M0 read as a number, 2^128, or as Inf.
void add_nan_scales(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    if (!has_block_scales(problem.a) && !has_block_scales(problem.b)) return;
    struct Reading {
        const char* what;
        Specials specials;
    };
    constexpr std::array readings{
        Reading{"NaN scales are read as numbers", Specials::none},
        Reading{"NaN scales are taken as Inf", Specials::infinity_and_nan}};
    for (const Reading& reading : readings)
        hypotheses.push_back(altered_outputs(
            problem, reading.what,
            [specials = reading.specials](AlteredOutput& output, const gemm::OutputPlace&) {
                for (Row* row : {&output.a, &output.b})
                    if (is_e8m0(*row)) row->scale_format.specials = specials;
                output.look_at_rows();
            }));
}

int exponent_of_scale(const Row& row, std::size_t block) {
    return static_cast<int>(row.scales[block]) - row.scale_format.exponent_bias;
}
void set_exponents(AlteredOutput& output, std::size_t block, int of_a, int of_b) {
    output.a.scales[block] = static_cast<std::uint32_t>(of_a + output.a.scale_format.exponent_bias);
    output.b.scales[block] = static_cast<std::uint32_t>(of_b + output.b.scale_format.exponent_bias);
}

// Binary32 has no room for the product of two scales: 0, or Inf.
void multiply_in_f32(AlteredOutput& output, std::size_t block, int sum) {
    constexpr int least = -149, largest = 127;
    if (sum < least) clear_block(output.a, block);
    if (sum <= largest) return;
    set_exponents(output, block, 0, 0);
    output.a.scales[block] = output.a.scale_format.code_nan();  // which is Inf here
}
void add_in_8_bits(AlteredOutput& output, std::size_t block, int sum) {
    const int wrapped = static_cast<std::int8_t>(sum), half = wrapped / 2;
    if (wrapped != sum) set_exponents(output, block, half, wrapped - half);
}

// What becomes of the scales of two blocks that are multiplied.
void add_products_of_scales(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const gemm::Factor &a = problem.a, &b = problem.b;
    if (!has_block_scales(a) || !has_block_scales(b) || a.block != b.block) return;
    struct Way {
        const char* what;
        void (*multiply)(AlteredOutput& output, std::size_t block, int sum);
    };
    constexpr std::array ways{
        Way{"the scales of A and B are multiplied in binary32", multiply_in_f32},
        Way{"the exponents of two scales are added in eight bits", add_in_8_bits}};
    for (const Way& way : ways)
        hypotheses.push_back(altered_outputs(
            problem, way.what,
            [multiply = way.multiply](AlteredOutput& output, const gemm::OutputPlace&) {
                if (!is_e8m0(output.a) || !is_e8m0(output.b)) return;
                const std::uint32_t nan = output.b.scale_format.code_nan();
                for (std::size_t block = 0; block < output.a.scales.size(); ++block) {
                    const bool is_nan =
                        has_nan_scale(output.a, block) || has_nan_scale(output.b, block);
                    const int sum =
                        exponent_of_scale(output.a, block) + exponent_of_scale(output.b, block);
                    if (is_nan) set_exponents(output, block, 0, 0);
                    if (is_nan) output.b.scales[block] = nan;
                    if (!is_nan) multiply(output, block, sum);
                }
                output.a.scale_format.specials = Specials::infinity_and_nan;
                output.look_at_rows();
            }));
}

// No scale of a block, number of a row or tensor counts.
void add_scales_left_out(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    const bool both =
        problem.a.scaling != gemm::Scaling::none && problem.b.scaling != gemm::Scaling::none;
    if (!both) return;
    hypotheses.push_back(altered_outputs(
        problem, "all scales are taken as 1", [](AlteredOutput& output, const gemm::OutputPlace&) {
            for (Row* row : {&output.a, &output.b})
                output.set_scales(*row,
                                  std::vector<std::uint32_t>(row->scales.size(), one_of(*row)));
        }));
}

}  // namespace

void add_elements_read_otherwise(const Problem& p, const gemm::ProblemView& problem,
                                 GemmHypotheses& hypotheses) {
    add_pairs(p, problem, hypotheses);
    add_formats(problem, hypotheses);
    add_code_rules(problem, hypotheses);
    add_products(problem, hypotheses);
    for (const Side& side : sides) add_elements_from_elsewhere(problem, side, hypotheses);
}

void add_scales_read_otherwise(const Problem& p, const gemm::ProblemView& problem,
                               GemmHypotheses& hypotheses) {
    add_scales_left_out(problem, hypotheses);
    add_scale_rules(problem, hypotheses);
    add_nan_scales(problem, hypotheses);
    add_products_of_scales(problem, hypotheses);
    if (problem.is_grouped()) {
        for (const Side& side : sides) add_groups_without_pads(p, problem, side, hypotheses);
    } else {
        add_layouts(p, problem, hypotheses);
        add_tiles_of_batches(p, problem, hypotheses);
    }
    for (const Side& side : sides) {
        add_scales_from_elsewhere(problem, side, hypotheses);
        add_other_rows(problem, side, hypotheses);
    }
    add_scales_of_both(problem, hypotheses);
}

}  // namespace mx
