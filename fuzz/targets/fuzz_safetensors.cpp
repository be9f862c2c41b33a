// Any bytes as a safetensors file: parsed or refused with a sentence, and what was parsed survives
// being written and parsed again. Run by libFuzzer or by replay_main.cpp; must not know which.
#include "conformance/data/safetensors.hpp"
#include "fuzz/targets/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto parse = [](std::span<const std::byte> file) {
        return mx::data::parse_safetensors(file, "fuzz.safetensors");
    };
    mx::fuzz::check_round_trip(parse(bytes), parse, mx::data::encode_safetensors);
    return 0;
}
