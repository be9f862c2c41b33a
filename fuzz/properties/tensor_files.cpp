// Properties of the tensor files: they round trip, and no damage to one byte or to the length goes
// unnoticed where it could be noticed, let alone crashes. Knows nothing of paths.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "conformance/data/npy.hpp"
#include "conformance/data/safetensors.hpp"
#include "fuzz/generators.hpp"
#include "fuzz/targets/round_trip.hpp"

namespace mx::fuzz {
namespace {

using Bytes = std::vector<std::byte>;

// One container, as the properties see it.
struct Container {
    Expected<data::TensorFile> (*parse)(std::span<const std::byte> file, std::string_view name);
    Expected<data::EncodedFile> (*encode)(const data::TensorFile& file);
};
constexpr Container npy{data::parse_npy, data::encode_npy};
constexpr Container safetensors{data::parse_safetensors, data::encode_safetensors};

// Types that a .npy names on its own.
data::TensorFile draw_npy() {
    const auto type = *rc::gen::suchThat(
        rc::gen::elementOf(std::vector(data::tensor_types.begin(), data::tensor_types.end())),
        [](const data::TensorType& row) {
            return !row.npy_name.empty() && (row.npy_name != "|u1" || row.id == "u8");
        });
    return {{draw_tensor("x", type)}, {}};
}

data::TensorFile draw_safetensors() {
    data::TensorFile file;
    const auto types = *rc::gen::container<std::vector<data::TensorType>>(
        static_cast<std::size_t>(*rc::gen::inRange(1, 4)),
        rc::gen::elementOf(std::vector(data::tensor_types.begin(), data::tensor_types.end())));
    for (const data::TensorType& type : types)
        file.tensors.push_back(
            draw_tensor(std::to_string(file.tensors.size()) + *any_text(), type));
    for (const std::string& key : *rc::gen::container<std::set<std::string>>(any_text()))
        file.metadata.emplace_back(key, *any_text());
    return file;
}

Bytes encode(const Container& container, const data::TensorFile& file) {
    const auto encoded = container.encode(file);
    if (!encoded) RC_FAIL(encoded.error().message);
    return in_one_piece(encoded.value());
}

void round_trips(const Container& container, data::TensorFile file) {
    auto back = container.parse(encode(container, file), "x.bin");
    if (!back) RC_FAIL(back.error().message);
    sort_by_name(file);
    sort_by_name(back.value());
    RC_ASSERT(back.value() == file);
}

// Shapes in the order of the bytes: a damaged name keeps its place. The extents of an empty tensor
// are left out, since no payload vouches for them.
std::vector<std::vector<std::int64_t>> vouched_shapes(const data::TensorFile& file) {
    std::vector<std::vector<std::int64_t>> shapes;
    for (const data::HostTensor& tensor : file.tensors)
        if (!tensor.bytes.empty()) shapes.push_back(tensor.shape);
    return shapes;
}

struct Damage {
    std::size_t place;
    std::uint8_t flip;  // not 0
};

bool is_noticed_or_harmless(const Container& container, Bytes bytes, Damage damage) {
    const auto intact = container.parse(bytes, "x.bin");
    bytes[damage.place] ^= static_cast<std::byte>(damage.flip);
    const auto damaged = container.parse(bytes, "x.bin");
    if (!damaged) return damaged.error().message.starts_with("x.bin: ");
    return vouched_shapes(damaged.value()) == vouched_shapes(intact.value());
}

void damaged_byte_is_noticed_or_harmless(const Container& container, const data::TensorFile& file) {
    const Bytes bytes = encode(container, file);
    const Damage damage{*rc::gen::inRange<std::size_t>(0, bytes.size()),
                        *rc::gen::distinctFrom(any_bits<std::uint8_t>(), std::uint8_t{0})};
    RC_ASSERT(is_noticed_or_harmless(container, bytes, damage));
}

// Every damage to every byte of one file.
void every_damaged_byte_is_noticed_or_harmless(const Container& container,
                                               const data::TensorFile& file) {
    const Bytes bytes = in_one_piece(container.encode(file).value());
    for (std::size_t place = 0; place < bytes.size(); ++place)
        for (int flip = 1; flip < 256; ++flip)
            ASSERT_TRUE(
                is_noticed_or_harmless(container, bytes, {place, static_cast<std::uint8_t>(flip)}))
                << "byte " << place << " xor " << flip;
}

void every_truncation_is_noticed(const Container& container, const data::TensorFile& file) {
    const Bytes bytes = encode(container, file);
    const auto length = *rc::gen::inRange<std::size_t>(0, bytes.size());
    const auto cut = container.parse(std::span(bytes).first(length), "x.bin");
    RC_ASSERT(!cut.ok());
    RC_ASSERT(cut.error().message.starts_with("x.bin: "));
}

RC_GTEST_PROP(TensorFileProperties, NpyRoundTrips, ()) {
    round_trips(npy, draw_npy());
}
RC_GTEST_PROP(TensorFileProperties, SafetensorsRoundTrip, ()) {
    round_trips(safetensors, draw_safetensors());
}
RC_GTEST_PROP(TensorFileProperties, NpyWithADamagedByte, ()) {
    damaged_byte_is_noticed_or_harmless(npy, draw_npy());
}
RC_GTEST_PROP(TensorFileProperties, SafetensorsWithADamagedByte, ()) {
    damaged_byte_is_noticed_or_harmless(safetensors, draw_safetensors());
}
TEST(TensorFileProperties, EveryDamagedByteOfANpy) {
    const data::HostTensor tensor{"x", "f16", {12, 1, 11}, Bytes(264)};
    every_damaged_byte_is_noticed_or_harmless(npy, {{tensor}, {}});
}
TEST(TensorFileProperties, EveryDamagedByteOfASafetensors) {
    const data::HostTensor values{"a", "bf16", {12, 11}, Bytes(264)};
    const data::HostTensor scales{"b", "e8m0", {1, 2}, Bytes(2)};
    every_damaged_byte_is_noticed_or_harmless(safetensors, {{values, scales}, {{"k", "v"}}});
}
RC_GTEST_PROP(TensorFileProperties, TruncatedNpy, ()) {
    every_truncation_is_noticed(npy, draw_npy());
}
RC_GTEST_PROP(TensorFileProperties, TruncatedSafetensors, ()) {
    every_truncation_is_noticed(safetensors, draw_safetensors());
}

// Corpus files are named after what they break; those that break nothing are named good_*.
void corpus_is_judged_by_its_names(const Container& container, const std::string& folder) {
    int good = 0, broken = 0;
    for (const auto& entry : std::filesystem::directory_iterator(MX_CORPUS "/" + folder)) {
        std::ifstream stream(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(stream), {}};
        const auto file = container.parse(std::as_bytes(std::span(text)), "x.bin");
        const std::string name = entry.path().filename().string();
        EXPECT_EQ(file.ok(), name.starts_with("good_"))
            << name << (file ? "" : ": " + file.error().message);
        ++(file ? good : broken);
    }
    EXPECT_GT(good, 0);
    EXPECT_GT(broken, 0);
}

TEST(Corpus, NpyFilesAreJudgedByTheirNames) {
    corpus_is_judged_by_its_names(npy, "npy");
}
TEST(Corpus, SafetensorsFilesAreJudgedByTheirNames) {
    corpus_is_judged_by_its_names(safetensors, "safetensors");
}

}  // namespace
}  // namespace mx::fuzz
