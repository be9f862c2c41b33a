// Any bytes as a .pt of torch: listed or refused with a sentence, and what is listed can be read.
// Run by libFuzzer or by replay_main.cpp; must not know which.
#include "fuzz/targets/listing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    mx::fuzz::check_listing(mx::data::list_torch(mx::fuzz::source_of(data, size)));
    return 0;
}
