// The table of dialects. A new dialect is a new row in one of the files below and changes no
// function. Facts are cited as repository@commit:path; where a source is silent the field holds our
// choice and `open` says so.
#pragma once

#include "reference/spec/dialect_rows_amd.hpp"
#include "reference/spec/dialect_rows_library.hpp"
#include "reference/spec/dialect_rows_nvidia.hpp"
#include "reference/spec/dialect_rows_torch.hpp"

namespace mx {

// OCP MX v1.0 section 6.3. Where the text is silent the fields hold our choice and `open` says so:
// a NaN or Inf makes max|V| NaN or Inf, which no E8M0 value but NaN can stand for. Two more choices
// are binding here: the scale rule, which the section words as "should", for a device that uses
// another rule has another dialect; and V/X, of which it names no precision, as an exact quotient.
inline constexpr std::array ocp_rows{
    new_row({"ocp", "OCP Microscaling v1.0, section 6.3",
             "OCP MX v1.0 section 6.3 (scale, elements), 5.1 (scale NaN), 5.3 (elements)"},
            [](Dialect& row) { row.open = all_but_the_formula | Decision::value_beyond_f32; }),
};

inline constexpr auto dialects =
    joined_rows(ocp_rows, nvidia_rows, torchao_rows, torch_rows, amd_rows, library_rows, cast_rows);

// Returns nullptr when no row has that name.
constexpr const Dialect* find_dialect(std::string_view name) {
    return find_named(dialects, name);
}

}  // namespace mx
