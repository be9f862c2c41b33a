// Which dialect does a device follow, asked format by format? By the fields of E8M0 dialects, or by
// the rows whose scale has a mantissa. Used by mxcheck identify.
#pragma once

#include <string>
#include <vector>

#include "conformance/identify/identify.hpp"

namespace mx::identify {

struct FormatsRequest {
    std::vector<std::string> formats = {};  // empty: one of FP8 and one of FP4
    std::string dialect = {};               // that it is asked under; "": the first that it takes
    std::string input = "f32";

    std::vector<std::string> formats_asked() const;
};

// As error a name that no table has, or a dialect that does not quantize a format from this type.
Status check(const FormatsRequest& request);

// One identification for each format that the device does; errors are those of the device, and
// bad_input where it does none. The request has passed `check`.
Expected<std::vector<Identification>> identify_formats(const FormatsRequest& request,
                                                       const Client& client);

// The dialects that every format points to.
std::vector<std::string> common_names(const std::vector<Identification>& all);

// The same device, whose first fault is kept. To identify a device is also to ask it for layouts
// and algorithms that it may not have, and there a crash is taken for a no.
Client watched(Client client, std::string& fault);

}  // namespace mx::identify
