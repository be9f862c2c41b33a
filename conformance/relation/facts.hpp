// Where relations hold: facts about dialects and formats, from their tables. Each says "" where a
// relation is claimed, and else why a device need not satisfy it. A test runs every relation on the
// oracle in every dialect: what is claimed must hold, and what is not must have a witness.
#pragma once

#include <string>

#include "conformance/relation/subject.hpp"

namespace mx::relation {

std::string always(const Setting& setting);
// Does what becomes of a lane hang on where the others stand?
std::string weighs_lanes_together(const Setting& setting);
std::string knows_binades(const Setting& setting);
std::string treats_signs_unlike(const Setting& setting);
std::string rounds_up_and_down(const Setting& setting);
std::string loses_by_quantizing_twice(const Setting& setting);
std::string has_no_mirror(const Setting& setting);
std::string scales_are_no_e8m0(const Setting& setting);
std::string knows_no_one(const Setting& setting);
std::string has_no_scales(const Setting& setting);
std::string has_no_block_scales(const Setting& setting);
std::string scales_round(const Setting& setting);

// Whether the setting's dialect reads this type, too, and as the same numbers in f32.
bool reads_as_f32(const Setting& setting, const std::string& type);

// "" where a table here has the setting's dialect and format; else the word that none has.
std::string unmodelled(const Setting& setting);

}  // namespace mx::relation
