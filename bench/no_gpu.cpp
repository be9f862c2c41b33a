// See gpu.hpp. A build without CUDA.
#include "bench/gpu.hpp"

namespace mx::bench::gpu {
namespace {

const Error none{ErrorKind::bad_input, "this build has no CUDA, so no tensor can lie on a GPU"};

}  // namespace

Status find() {
    return none;
}
void Free::operator()(std::uint8_t*) const {}
Expected<Memory> allocate(std::size_t) {
    return none;
}
Status upload(std::uint8_t*, const void*, std::size_t) {
    return none;
}
Status download(void*, const std::uint8_t*, std::size_t) {
    return none;
}
Status flush() {
    return none;
}
Expected<double> seconds_of(const Copy&) {
    return none;
}
std::string state() {
    return "";
}

}  // namespace mx::bench::gpu
