// What a decision vector predicts, and how an answer that goes against one is told in words.
// Used by identify.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/identify/identify.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::identify {

// Scales hang on the whole block; elements are judged under the scale that the device gave.
enum class Part { scale, elements };

// "0x43f00000 (480)"
std::string code_with_value(const ElementFormat& format, Code code);

Code predicted_scale(const Setting& setting, const Quantizer& dialect, const Lanes& block);
// A number that is the same for the same scale, or for the same elements.
std::uint64_t predicted(const Setting& setting, const Quantizer& dialect, const Answer& answer,
                        Part part);
std::uint64_t given(const Answer& answer, Part part);

// An answer that only the first of the values of a field predicts; "" if there is none.
std::string witness_of(const Setting& setting, std::string_view field,
                       const std::vector<Quantizer>& values, std::span<const Answer> answers);

Unexplained unexplained_by(const Setting& setting, const Quantizer& dialect,
                           std::span<const Answer> answers);

// "every ordinary scale is 1 above that of nv"; "" if there is no such number.
std::string common_offset(const Setting& setting, const Quantizer& dialect,
                          std::span<const Answer> answers);

// What a row of `count` lanes came to: `answers` is empty if the device does not take one.
std::string partial_text(const Setting& setting, const Quantizer& dialect,
                         std::span<const Answer> answers, std::size_t count);

}  // namespace mx::identify
