// See device_elements.hpp: which sweeps there are.
#include "conformance/sweep/device_elements.hpp"

#include <algorithm>

#include "device/cuda/rules.hpp"
#include "reference/proof/e8m0_functions.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::sweep {

std::vector<DeviceElements> device_elements() {
    std::vector<DeviceElements> sweeps;
    for (const BlockFormat& format : mx_block_formats)
        for (const Quantizer& dialect : e8m0_quantizers) {
            const auto element = cuda::find_block_format(format.name);
            if (!element || !cuda::find_dialect_rule(dialect.name, *element)) continue;
            if (!dialect.quantizes(format)) continue;
            const auto same = [&](const DeviceElements& sweep) {
                return sweep.format.name == format.name &&
                       proof::element_rules(sweep.dialect) == proof::element_rules(dialect);
            };
            if (std::any_of(sweeps.begin(), sweeps.end(), same)) continue;
            sweeps.push_back(
                {"device elements " + std::string(format.name) + " " + std::string(dialect.name),
                 dialect, format});
        }
    return sweeps;
}

}  // namespace mx::sweep
