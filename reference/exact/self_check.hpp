// The exact oracle asked for answers typed by hand, as fast/self_check.hpp asks the fast one.
#pragma once

#include <string>

#include "reference/spec/self_check.hpp"

namespace mx::exact {

// "" if all is right, otherwise the first wrong answer: what was asked, given and expected.
std::string self_check(known::Part part);

}  // namespace mx::exact
