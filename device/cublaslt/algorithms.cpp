// See algorithms.hpp.
#include "device/cublaslt/algorithms.hpp"

namespace mx::cublaslt {

std::string name_of(const Configuration& configuration) {
    std::string name;
    for (std::size_t i = 0; i < configuration.size(); ++i) {
        if (i != 0) name += ',';
        name += std::string(algorithm_attributes[i].name) + '=' + std::to_string(configuration[i]);
    }
    return name;
}

}  // namespace mx::cublaslt
