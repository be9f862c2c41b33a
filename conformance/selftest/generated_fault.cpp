// See generated_fault.hpp.
#include "conformance/selftest/generated_fault.hpp"

#include <algorithm>
#include <array>

#include "conformance/data/philox.hpp"
#include "conformance/data/tensor_number.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/recipe_fields.hpp"
#include "conformance/run/expected.hpp"
#include "reference/fast/quantize.hpp"

namespace mx::selftest {
namespace {

using Tensors = std::vector<CodeTensor>;

class Draw {
public:
    explicit Draw(std::uint64_t number) : number_(number) {}
    std::size_t below(std::size_t count) {
        return philox({0x6D786368, number_, next_++})[0] % count;
    }
    template <typename Items>
    const auto& of(const Items& items) {
        return items[below(items.size())];
    }

private:
    std::uint64_t number_, next_ = 0;
};

// --- places ---

std::int64_t row_of_block(const Problem& p, std::int64_t block) {
    if (p.columns == 0) return 0;  // of a tensor without elements, which is a block all the same
    return static_cast<std::int64_t>(place_of(blocking_of(p), block).first) / p.columns;
}

// Of the blocks of its line.
struct PlaceInLine {
    std::int64_t at, count;
};
PlaceInLine in_line(const Problem& p, std::int64_t block) {
    const BlockGrid grid = block_grid(p);
    if (p.axis == BlockAxis::col) return {block / grid.block_columns, grid.block_rows};
    return {block % grid.block_columns, grid.block_columns};
}

FaultPlace elements_place(std::string kind, std::string text,
                          std::function<bool(const Problem&, int lane)> holds) {
    return {std::move(kind), std::move(text),
            [holds](const Problem& p, std::size_t element) {
                return holds(p, lane_of(blocking_of(p), element).lane);
            },
            [](const Problem&, std::int64_t) { return false; }};
}
FaultPlace rows_place(std::string kind, std::string text,
                      std::function<bool(const Problem&, std::int64_t row)> holds) {
    return {
        std::move(kind), std::move(text),
        [holds](const Problem& p, std::size_t element) {
            return holds(p, static_cast<std::int64_t>(element) / p.columns);
        },
        [holds](const Problem& p, std::int64_t block) { return holds(p, row_of_block(p, block)); }};
}
FaultPlace blocks_place(std::string kind, std::string text,
                        std::function<bool(const Problem&, std::int64_t block)> holds) {
    return {std::move(kind), std::move(text),
            [holds](const Problem& p, std::size_t element) {
                return holds(p, lane_of(blocking_of(p), element).block);
            },
            holds};
}

FaultPlace draw_place(Draw& draw) {
    switch (draw.below(14)) {
        case 0: {
            const int wanted = static_cast<int>(draw.below(16));
            return elements_place("element_" + std::to_string(wanted),
                                  "element " + std::to_string(wanted) + " of a block",
                                  [wanted](const Problem&, int lane) { return lane == wanted; });
        }
        case 1:
            return elements_place("odd_elements", "odd elements",
                                  [](const Problem&, int lane) { return lane % 2 == 1; });
        case 2:
            return elements_place(
                "second_half", "the second half of a block",
                [](const Problem& p, int lane) { return lane >= lanes_of(p) / 2; });
        case 3:
            return rows_place("odd_rows", "odd rows",
                              [](const Problem&, std::int64_t row) { return row % 2 == 1; });
        case 4:
            return rows_place("last_row", "the last row",
                              [](const Problem& p, std::int64_t row) { return row == p.rows - 1; });
        case 5:
            return blocks_place("last_blocks", "the last block of a line",
                                [](const Problem& p, std::int64_t block) {
                                    return in_line(p, block).at == in_line(p, block).count - 1;
                                });
        case 6:
            return blocks_place(
                "odd_blocks", "odd blocks of a line",
                [](const Problem& p, std::int64_t block) { return in_line(p, block).at % 2 == 1; });
        default:
            return {};
    }
}

// --- decisions ---

// Rows that came later stand at the end of the table and are not drawn: a number stays the bug that
// it was when its cause was looked at.
constexpr std::span drawn_rows =
    std::span(quantizers).first<quantizers.size() - 5 - conversion_count>();
static_assert(drawn_rows.back().name == "nexus");

using Copy = void (*)(Quantizer& to, const Quantizer& from);
struct Field {
    std::string_view name;
    Copy copy;
    bool is_of_recipe;  // dialect_fields() has it not
};

template <auto member>
constexpr Field recipe_field(std::string_view name) {
    return {name, [](Quantizer& to, const Quantizer& from) { to.*member = from.*member; }, true};
}

std::vector<Field> fields_of(const Quantizer& entry) {
    std::vector<Field> fields;
    for (const emulate::DialectField& field : emulate::dialect_fields())
        fields.push_back({field.name, field.copy, false});
    if (entry.has_e8m0_scales()) return fields;
    std::erase_if(fields, [](const Field& field) { return field.name.starts_with("scale_"); });
    for (const Field& field : {recipe_field<&Quantizer::scale_max>("scale_max"),
                               recipe_field<&Quantizer::useless_amax>("useless_amax"),
                               recipe_field<&Quantizer::encode_overflow>("encode_overflow"),
                               recipe_field<&Quantizer::scale_rule>("block_scale")})
        fields.push_back(field);
    return fields;
}

std::string value_of(const Field& field, const Quantizer& entry) {
    if (!field.is_of_recipe) return emulate::value_in(field.name, entry);
    for (const auto& [name, text] : emulate::recipe_fields(entry))
        if (name == field.name) return text;
    return "";
}

// The entry with every value that a field can be given: those of entries that are made alike, and
// of enumerations that a caller may choose from.
std::vector<Quantizer> donors_of(const Quantizer& entry) {
    std::vector<Quantizer> donors;
    for (const Quantizer& row : drawn_rows)
        if (row.is_known() && row.scale_type == entry.scale_type &&
            (entry.has_e8m0_scales() || (row.formats & entry.formats) != 0))
            donors.push_back(row);
    const auto add = [&](auto member, auto value) {
        donors.push_back(entry);
        donors.back().*member = value;
    };
    for (const auto& [name, rounding] : roundings)
        if (rounding != Rounding::stochastic) add(&Quantizer::element_rounding, rounding);
    for (const auto& [name, overflow] : overflows) add(&Quantizer::element_overflow, overflow);
    for (const auto& [name, rule] : subnormal_rules) add(&Quantizer::subnormals, rule);
    for (const NanCode code : {NanCode::sign_kept, NanCode::largest, NanCode::zero})
        add(&Quantizer::nan_code, code);
    return donors;
}

// The decisions alone.
Quantizer without_names(Quantizer entry) {
    entry.name = entry.title = entry.source = entry.waits = "";
    entry.open = 0;
    entry.formats = {};
    entry.inputs = {};
    return entry;
}

// A block whose largest number has the exponent field `top`, or has a NaN or an infinity beside it:
// random signs and lower exponents, mantissas of which half are short enough to lie on ties.
std::vector<std::uint32_t> drawn_block(Draw& draw, const ElementFormat& type, std::size_t top) {
    std::vector<std::uint32_t> lanes(32);
    const std::size_t mantissas = std::size_t{1} << type.mantissa_bits;
    for (std::uint32_t& lane : lanes) {
        const std::size_t field = top - std::min(top, draw.below(16));
        std::size_t mantissa = draw.below(mantissas);
        if (draw.below(2) == 0) mantissa -= mantissa % (mantissas / 16);
        lane = static_cast<std::uint32_t>(draw.below(2) << (type.code_bits() - 1) |
                                          field << type.mantissa_bits | mantissa);
    }
    return lanes;
}

// Under scales of E8M0: no block of any exponent, format and input type of `entry` tells them
// apart.
bool have_same_bits(const Quantizer& a, const Quantizer& b, const Quantizer& entry) {
    constexpr int blocks_of_exponent = 4;
    Draw draw(0);
    for (const BlockFormat& format : block_formats)
        for (const std::string_view name : input_types) {
            if (!entry.quantizes(format) || !entry.reads(name)) continue;
            const ElementFormat& type = *find_element_format(name);
            for (std::size_t top = 0; top >> type.exponent_bits == 0; ++top)
                for (int i = 0; i < blocks_of_exponent; ++i) {
                    const auto lanes = drawn_block(draw, type, top);
                    std::array<std::uint8_t, 32> of_a{}, of_b{};
                    const auto ask = [&](const Quantizer& rules, auto& elements) {
                        return fast::quantize_block(rules, format, type, lanes.data(), 32,
                                                    elements.data());
                    };
                    if (ask(a, of_a) != ask(b, of_b) || of_a != of_b) return false;
                }
        }
    return true;
}

// What else says the same: another entry of the table, with the same decisions or with others that
// come to the same bits.
std::string entries_equal_to(const Quantizer& changed, const Quantizer& entry) {
    const auto is_compared = [](const Quantizer& row) {
        return row.has_e8m0_scales() && row.is_known() && row.transform == LaneTransform::none &&
               row.element_rounding != Rounding::stochastic;
    };
    std::string does;
    for (const Quantizer& row : quantizers)
        if (without_names(row) == without_names(changed) ||
            (is_compared(row) && is_compared(changed) && have_same_bits(changed, row, entry)))
            does += " | dialect:" + std::string(entry.name) + "->" + std::string(row.name);
    return does;
}

// Then its last block is all of it.
bool is_block_a_tensor(const Quantizer& entry) {
    return std::ranges::any_of(block_formats, [&entry](const BlockFormat& format) {
        return entry.quantizes(format) && format.is_whole_tensor();
    });
}

GeneratedFault draw_decision(Draw& draw, const Quantizer& entry) {
    const std::vector<Field> fields = fields_of(entry);
    for (;;) {
        const Field field = draw.of(fields);
        const std::string from = value_of(field, entry);
        std::vector<Quantizer> donors = donors_of(entry);
        std::erase_if(donors, [&](const Quantizer& row) { return value_of(field, row) == from; });
        if (donors.empty()) continue;
        const Quantizer donor = draw.of(donors);
        if (donor.*(&Quantizer::element_rounding) == Rounding::stochastic &&
            field.name == "element_rounding")
            continue;
        GeneratedFault fault;
        fault.does = std::string(field.name) + ":" + from + "->" + value_of(field, donor);
        fault.text = std::string(field.name) + " is " + value_of(field, donor) + ", not " + from;
        fault.place = draw_place(draw);
        if (fault.place.kind == "last_blocks" && is_block_a_tensor(entry)) fault.place = {};
        fault.rules = [copy = field.copy, donor](Quantizer& rules) { copy(rules, donor); };
        return fault;
    }
}

// --- data on their way ---

std::int64_t block_beside(const Problem& p, std::int64_t block, std::int64_t step) {
    const PlaceInLine place = in_line(p, block);
    if (place.at + step < 0 || place.at + step >= place.count) return block;
    return block + step * (p.axis == BlockAxis::col ? block_grid(p).block_columns : 1);
}

using CodeOf = std::function<Code(const ElementFormat& format, Code code)>;
std::function<void(const Problem&, Tensors&)> each_element(CodeOf code_of) {
    return [code_of](const Problem& p, Tensors& outputs) {
        for (std::size_t i = 0; i < outputs[0].count(); ++i)
            outputs[0].set(i, code_of(element_format_of(p), Code{outputs[0].at(i)}).bits);
    };
}

void round_inputs(const Problem& p, CodeTensor& values) {
    for (std::size_t i = 0; i < values.count(); ++i) {
        const fast::Unpacked value = fast::unpack(p.type, Code{values.at(i)});
        if (value.kind != fast::Kind::finite) continue;
        const Code cut =
            fast::round(formats::bf16, Rounding::nearest_even, Overflow::overflow, value);
        values.set(i, fast::round(p.type, Rounding::nearest_even, Overflow::overflow,
                                  fast::unpack(formats::bf16, cut))
                          .bits);
    }
}

struct DataFault {
    std::string_view does, text;
    void (*set)(GeneratedFault& fault);
};

constexpr std::array data_faults{
    DataFault{"amax_without:odd_elements", "the amax skips odd elements",
              [](GeneratedFault& fault) {
                  fault.is_unseen = [](const Problem&, const CodeTensor&, std::size_t, int lane) {
                      return lane % 2 == 1;
                  };
              }},
    DataFault{"amax_without:second_half", "the amax sees half a block",
              [](GeneratedFault& fault) {
                  fault.is_unseen = [](const Problem& p, const CodeTensor&, std::size_t, int lane) {
                      return lane >= lanes_of(p) / 2;
                  };
              }},
    DataFault{"amax_without:negative_elements", "the amax is that of positive elements",
              [](GeneratedFault& fault) {
                  fault.is_unseen = [](const Problem& p, const CodeTensor& values,
                                       std::size_t element, int) {
                      const Code code{values.at(element)};
                      return p.type.is_negative(code) && !p.type.is_nan(code);
                  };
              }},
    DataFault{"scale_of:block_before", "a block takes the scale of the one before",
              [](GeneratedFault& fault) {
                  fault.scale_of = [](const Problem& p, std::int64_t block) {
                      return block_beside(p, block, -1);
                  };
              }},
    DataFault{"scale_of:block_after", "a block takes the scale of the one after",
              [](GeneratedFault& fault) {
                  fault.scale_of = [](const Problem& p, std::int64_t block) {
                      return block_beside(p, block, 1);
                  };
              }},
    DataFault{"stored_scale_of:block_before", "the scale of the block before is stored",
              [](GeneratedFault& fault) {
                  fault.output = [](const Problem& p, Tensors& outputs) {
                      const CodeTensor right = outputs[1];
                      for (std::size_t i = 0; i < right.count(); ++i)
                          outputs[1].set(i, right.at(static_cast<std::size_t>(block_beside(
                                                p, static_cast<std::int64_t>(i), -1))));
                  };
              }},
    DataFault{"exchanged:pairs", "neighbouring elements change places",
              [](GeneratedFault& fault) {
                  fault.output = [](const Problem& p, Tensors& outputs) {
                      const CodeTensor right = outputs[0];
                      for (std::size_t i = 0; i < right.count(); ++i) {
                          const auto column = i % static_cast<std::size_t>(p.columns);
                          const std::size_t other = column % 2 == 0 ? i + 1 : i - 1;
                          if (column % 2 == 1 || column + 1 < static_cast<std::size_t>(p.columns))
                              outputs[0].set(i, right.at(other));
                      }
                  };
              }},
    DataFault{"code:sign_lost", "elements lose their sign",
              [](GeneratedFault& fault) {
                  fault.output = each_element([](const ElementFormat& format, Code code) {
                      return format.is_nan(code) ? code : format.positive(format.magnitude(code));
                  });
              }},
    DataFault{"code:zero_unsigned | sign_of_zero:kept->dropped", "-0 becomes +0",
              [](GeneratedFault& fault) {
                  fault.output = each_element([](const ElementFormat& format, Code code) {
                      return format.is_zero(code) ? format.positive(0) : code;
                  });
              }},
    DataFault{"code:subnormal_as_zero | subnormals:honoured->outputs_flushed",
              "subnormal elements become zeros of their sign",
              [](GeneratedFault& fault) {
                  fault.output = each_element([](const ElementFormat& format, Code code) {
                      if (!format.is_subnormal(code)) return code;
                      return format.is_negative(code) ? format.negative(0) : format.positive(0);
                  });
              }},
    DataFault{"input:through_bf16", "values are rounded to bf16 first",
              [](GeneratedFault& fault) { fault.input = round_inputs; }},
    DataFault{"input:element_before", "an element is made of the value before it",
              [](GeneratedFault& fault) {
                  fault.input = [](const Problem& p, CodeTensor& values) {
                      const CodeTensor right = values;
                      for (std::size_t i = 0; i < right.count(); ++i)
                          if (i % static_cast<std::size_t>(p.columns) != 0)
                              values.set(i, right.at(i - 1));
                  };
              }},
    DataFault{"input:nan_as_zero", "a NaN is read as zero",
              [](GeneratedFault& fault) {
                  fault.input = [](const Problem& p, CodeTensor& values) {
                      for (std::size_t i = 0; i < values.count(); ++i)
                          if (p.type.is_nan(Code{values.at(i)})) values.set(i, 0);
                  };
              }},
    // Two that no hypothesis has: what is named for them is wrong.
    DataFault{"", "the last bit of an element is set where the one before it is",
              [](GeneratedFault& fault) {
                  fault.output = each_element([](const ElementFormat&, Code code) {
                      return Code{code.bits | (code.bits >> 1 & 1)};
                  });
              }},
    DataFault{"", "every seventh element is that of minus its value",
              [](GeneratedFault& fault) {
                  fault.output = [](const Problem& p, Tensors& outputs) {
                      const ElementFormat& format = element_format_of(p);
                      for (std::size_t i = 0; i < outputs[0].count(); i += 7)
                          outputs[0].set(i, outputs[0].at(i) ^ format.code_sign_mask());
                  };
              }},
};

GeneratedFault draw_data_fault(Draw& draw) {
    GeneratedFault fault;
    if (draw.below(4) == 0) {
        const int wanted = static_cast<int>(draw.below(16));
        fault.does = "amax_without:element_" + std::to_string(wanted);
        fault.text = "the amax misses element " + std::to_string(wanted);
        fault.is_unseen = [wanted](const Problem&, const CodeTensor&, std::size_t, int lane) {
            return lane == wanted;
        };
        return fault;
    }
    const DataFault& drawn = draw.of(data_faults);
    fault.does = drawn.does;
    fault.text = drawn.text;
    drawn.set(fault);
    return fault;
}

// --- answers ---

// Under a scale that an amax which misses elements, or another block, gives.
class FaultyBlocks {
public:
    FaultyBlocks(const GeneratedFault& fault, const Problem& p, const Tensors& inputs)
        : fault_(fault), p_(p), inputs_(inputs), values_(transformed(p, inputs[0], rotated_)) {
        fast::TensorNumbers numbers;
        if (has_tensor_number(p))
            numbers =
                numbers_of(p, p.tensor_number ? *p.tensor_number : derived_amax(p, inputs[0]));
        question_ = {*p.dialect, *p.format, p.type, numbers};
    }

    void write(Tensors& outputs) const {
        const std::vector<fast::BlockScale> right = scales();
        const StochasticForm* form = stochastic_form_of(p_);
        for (std::size_t block = 0; block < right.size(); ++block) {
            const auto number = static_cast<std::int64_t>(block);
            const fast::BlockScale& scale =
                right[fault_.scale_of ? static_cast<std::size_t>(fault_.scale_of(p_, number))
                                      : block];
            outputs[1].set(block, scale.stored.bits);
            const BlockPlace place = place_of(blocking_of(p_), number);
            for (int lane = 0; lane < place.count; ++lane) {
                const std::size_t at = place.element(lane);
                const RandomBits random =
                    form == nullptr ? RandomBits{} : random_bits_at(p_, *form, inputs_.back(), at);
                outputs[0].set(at, element(scale, at, random).bits);
            }
        }
    }

private:
    fast::Unpacked value(std::size_t at) const {
        return fast::read_input(question_.quantizer.subnormals, p_.type, Code{values_.at(at)});
    }

    Code element(const fast::BlockScale& scale, std::size_t at, RandomBits random) const {
        if (question_.quantizer.has_e8m0_scales())
            return fast::quantize_element(question_.quantizer, question_.format, scale.stored,
                                          value(at), random);
        return fast::quantize_lane(question_, scale, value(at), random);
    }

    std::vector<fast::BlockScale> scales() const {
        std::vector<fast::BlockScale> scales;
        for (std::int64_t block = 0; block < block_grid(p_).count(); ++block) {
            const BlockPlace place = place_of(blocking_of(p_), block);
            std::vector<std::uint32_t> seen;
            for (int lane = 0; lane < place.count; ++lane) {
                const std::size_t at = place.element(lane);
                const bool is_unseen = fault_.is_unseen && fault_.is_unseen(p_, values_, at, lane);
                seen.push_back(is_unseen ? 0 : values_.at(at));
            }
            const fast::Unpacked amax = fast::amax_of(question_.quantizer, p_.type, seen.data(),
                                                      static_cast<std::int64_t>(seen.size()));
            if (question_.quantizer.has_e8m0_scales())
                scales.push_back(
                    {fast::encode_scale(question_.quantizer, question_.format, amax), {}, {}});
            else
                scales.push_back(fast::chosen_scale(question_, amax, place.count, [&](int lane) {
                    return value(place.element(lane));
                }));
        }
        return scales;
    }

    const GeneratedFault& fault_;
    const Problem& p_;
    const Tensors& inputs_;
    CodeTensor rotated_;
    const CodeTensor& values_;
    fast::BlockQuestion question_;
};

// With all of the faults everywhere.
Tensors answer_everywhere(std::span<const GeneratedFault* const> faults, const Problem& p,
                          const Tensors& inputs) {
    Problem asked = p;
    Quantizer rules = *p.dialect;
    asked.dialect = &rules;
    Tensors read = inputs;
    for (const GeneratedFault* fault : faults) {
        if (fault->rules) fault->rules(rules);
        if (fault->input) fault->input(asked, read[0]);
    }
    Tensors outputs = expect(asked, read);
    for (const GeneratedFault* fault : faults)
        if (fault->is_unseen || fault->scale_of) FaultyBlocks(*fault, asked, read).write(outputs);
    for (const GeneratedFault* fault : faults)
        if (fault->output) fault->output(asked, outputs);
    return outputs;
}

}  // namespace

GeneratedBug draw_bug(std::uint64_t number) {
    Draw draw(number);
    GeneratedBug bug;
    do bug.entry = &draw.of(drawn_rows);
    while (!bug.entry->is_known() || bug.entry->formats == 0);
    const std::size_t count = draw.below(4) == 0 ? 2 : 1;
    while (bug.faults.size() < count) {
        GeneratedFault fault =
            draw.below(3) == 0 ? draw_data_fault(draw) : draw_decision(draw, *bug.entry);
        if (!fault.place.kind.empty() && !fault.does.empty()) fault.does += "@" + fault.place.kind;
        const bool is_like_the_other = !bug.faults.empty() && bug.faults[0].rules && fault.rules &&
                                       bug.faults[0].does.substr(0, bug.faults[0].does.find(':')) ==
                                           fault.does.substr(0, fault.does.find(':'));
        if (!is_like_the_other) bug.faults.push_back(std::move(fault));
    }
    const bool is_another_entry = std::ranges::all_of(bug.faults, [](const GeneratedFault& fault) {
        return fault.rules && fault.place.kind.empty();
    });
    if (!is_another_entry) return bug;
    Quantizer changed = *bug.entry;
    for (const GeneratedFault& fault : bug.faults) fault.rules(changed);
    bug.faults.back().does += entries_equal_to(changed, *bug.entry);
    return bug;
}

Tensors faulty_answer(std::span<const GeneratedFault> faults, const Problem& p,
                      const Tensors& inputs) {
    // Answers by which of the faults take part, a bit each: a place gets the one of those that
    // reach it.
    std::vector<Tensors> answers;
    for (std::size_t taking = 0; taking < std::size_t{1} << faults.size(); ++taking) {
        std::vector<const GeneratedFault*> some;
        for (std::size_t i = 0; i < faults.size(); ++i)
            if ((taking >> i & 1) != 0) some.push_back(&faults[i]);
        answers.push_back(answer_everywhere(some, p, inputs));
    }
    const auto taking_at = [&](auto reaches) {
        std::size_t taking = 0;
        for (std::size_t i = 0; i < faults.size(); ++i)
            if (faults[i].place.kind.empty() || reaches(faults[i].place))
                taking |= std::size_t{1} << i;
        return taking;
    };
    Tensors outputs = answers.back();
    for (std::size_t i = 0; i < outputs[0].count(); ++i)
        outputs[0].set(
            i,
            answers[taking_at([&](const FaultPlace& place) { return place.has_element(p, i); })][0]
                .at(i));
    for (std::size_t i = 0; i < outputs[1].count(); ++i)
        outputs[1].set(i, answers[taking_at([&](const FaultPlace& place) {
                              return place.has_scale(p, static_cast<std::int64_t>(i));
                          })][1]
                              .at(i));
    return outputs;
}

}  // namespace mx::selftest
