// Any bytes as a safetensors file of quantized tensors: what is recognised can be read, audited and
// held against itself, and is equal to itself. Run by libFuzzer or by replay_main.cpp; must not
// know which.
#include "conformance/files/audit.hpp"
#include "conformance/files/compare.hpp"
#include "fuzz/targets/listing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto listing = mx::data::list_safetensors(mx::fuzz::source_of(data, size));
    if (!listing) return 0;
    const auto file = mx::files::recognise(listing.value());
    if (!file) return 0;
    mx::fuzz::require("what is recognised can be audited", mx::files::audit_of(file.value()).ok());
    for (const mx::files::View& view : file.value().views) {
        const mx::files::Reading reading{view};
        const auto same = mx::files::compare(reading, reading, {view.rows, view.columns});
        mx::fuzz::require("what is recognised can be compared", same.ok());
        mx::fuzz::require("it is equal to itself", same.value().different_blocks == 0);
    }
    return 0;
}
