// Tests of the containers that list their tensors: .npz, GGUF, torch's .pt and an index of
// safetensors, each made here byte by byte, and what each refuses.
#include "conformance/data/tensor_listing.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

#include "conformance/data/tensor_file.hpp"
#include "conformance/data/test/file_bytes.hpp"
#include "conformance/data/test/zip_text.hpp"

namespace mx::data {
namespace {

using test::expect_error;
using test::little_endian_text;
using test::npy_text;
using test::put;
using test::safetensors_text;
using test::ScratchDirectory;
using test::to_bytes;
using test::zip_text;
using test::ZipText;

std::string number(std::uint64_t value, int width) {
    return little_endian_text(value, width);
}

// A source that owns its bytes.
class TextSource final : public ByteSource {
public:
    TextSource(std::string text, std::string name)
        : text_(std::move(text)), name_(std::move(name)) {}
    const std::string& name() const override { return name_; }
    std::uint64_t size() const override { return text_.size(); }
    Status read(std::uint64_t offset, std::span<std::byte> into) const override {
        if (!into.empty()) std::memcpy(into.data(), text_.data() + offset, into.size());
        return success();
    }

private:
    std::string text_, name_;
};

SharedSource source_of(const std::string& text) {
    return std::make_shared<TextSource>(text, "f");
}

const std::string array_header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";

TEST(Zip, StoredAndDeflatedArraysOfAnNpz) {
    for (const ZipText::Method method : {ZipText::Method::stored, ZipText::Method::deflated}) {
        const std::string file = zip_text({{"a.npy", npy_text(array_header, "abcdefgh"), method},
                                           {"b.npy", npy_text(array_header, "ABCDEFGH"), method}});
        const auto listing = list_npz(source_of(file));
        ASSERT_TRUE(listing.ok()) << listing.error().message;
        const auto all = read_all(listing.value());
        ASSERT_TRUE(all.ok()) << all.error().message;
        EXPECT_EQ(all.value().tensors[0], (HostTensor{"a", "f32", {2}, to_bytes("abcdefgh")}));
        EXPECT_EQ(all.value().tensors[1], (HostTensor{"b", "f32", {2}, to_bytes("ABCDEFGH")}));
    }
}

TEST(Zip, ADeflatedArrayIsReadAtAnyPlace) {
    std::string payload(200'000, ' ');
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(i * i >> 7);
    const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (200000,)}";
    const auto listing = list_npz(
        source_of(zip_text({{"x.npy", npy_text(header, payload), ZipText::Method::deflated}})));
    ASSERT_TRUE(listing.ok()) << listing.error().message;
    for (const std::size_t offset : {150'000u, 10u, 10u, 199'000u, 0u}) {
        std::vector<std::byte> piece(1000);
        ASSERT_TRUE(read_bytes(listing.value().tensors[0], offset, piece).ok());
        EXPECT_EQ(std::memcmp(piece.data(), payload.data() + offset, piece.size()), 0) << offset;
    }
}

TEST(Zip, RefusesWhatItCannotBelieve) {
    const ZipText one{"a.npy", npy_text(array_header, "abcdefgh"), ZipText::Method::stored};
    const std::string good = zip_text({one});
    const auto refused = [](const std::string& file, std::string_view part) {
        expect_error(list_npz(source_of(file)), "f", part);
    };
    const auto changed = [&](std::size_t from_end, char byte) {
        std::string file = good;
        file[file.size() - from_end] = byte;
        return file;
    };
    refused("", "no ZIP archive");
    refused(good.substr(0, good.size() - 1), "no ZIP archive");
    refused(changed(22 - 12 - 3, '\x7f'), "directory would be");
    refused(changed(22 - 16, '\x01'), "directory is damaged");
    // In the directory, whose one entry of 46 + 5 bytes stands before the 22 of the end.
    refused(changed(22 + 51 - 10, '\x0c'), "method 12");
    refused(changed(22 + 51 - 8, '\x01'), "encrypted");
    refused(changed(22 + 51 - 24, '\x7f'), "unpacks to");
    refused(changed(22 + 51 - 42, '\x05'), "has no header");
    refused(zip_text({{"a.txt", "abc", ZipText::Method::stored}}), "is no .npy");
    refused(zip_text({one, one}), "two arrays named 'a'");
}

TEST(Zip, ALyingSizeTakesNoMemory) {
    // 16 packed bytes that claim 2^40 unpacked ones.
    ZipText big{"a.npy", npy_text(array_header, "abcdefgh"), ZipText::Method::deflated};
    big.claimed = std::uint64_t{1} << 31;
    expect_error(list_npz(source_of(zip_text({big}))), "f", "cannot be");
    // A claim that deflate could reach is found out when the bytes are asked for.
    big.claimed = big.bytes.size() + 1000;
    const auto listing = list_npz(source_of(zip_text({big})));
    expect_error(listing, "f: 'a.npy'", "needs 8 bytes");
}

// --- GGUF ----------------------------------------------------------------------------------------

std::string gguf_name(const std::string& name) {
    return number(name.size(), 8) + name;
}

struct GgufText {
    std::string magic = "GGUF";
    std::uint64_t version = 3;
    std::uint64_t tensors = 2;
    std::uint64_t type = 39;     // of the second
    std::uint64_t offset = 32;   // of the second
    std::uint64_t columns = 64;  // of the second
    std::string second = "blk.0.ffn";
};

std::string gguf_text(const GgufText& given) {
    std::string file =
        given.magic + number(given.version, 4) + number(given.tensors, 8) + number(3, 8);
    file += gguf_name("general.architecture") + number(8, 4) + gguf_name("gpt-oss");
    file += gguf_name("tokens") + number(9, 4) + number(8, 4) + number(2, 8) + gguf_name("a") +
            gguf_name("bc");
    file += gguf_name("general.alignment") + number(4, 4) + number(32, 4);
    file += gguf_name("norm") + number(1, 4) + number(2, 8) + number(0, 4) + number(0, 8);
    file += gguf_name(given.second) + number(2, 4) + number(given.columns, 8) + number(3, 8) +
            number(given.type, 4) + number(given.offset, 8);
    file.resize((file.size() + 31) / 32 * 32, '\0');
    return file + std::string(32, 'n') + std::string(3 * 2 * 17, 'm');
}

TEST(Gguf, ListsTensorsAndBlockTypes) {
    const auto listing = list_gguf(source_of(gguf_text({})));
    ASSERT_TRUE(listing.ok()) << listing.error().message;
    ASSERT_EQ(listing.value().tensors.size(), 2u);
    const ListedTensor& norm = listing.value().tensors[0];
    EXPECT_EQ(norm.type, "f32");
    EXPECT_EQ(norm.size(), 8u);
    const ListedTensor& blocks = listing.value().tensors[1];
    EXPECT_EQ(blocks.block_type, "MXFP4");
    EXPECT_EQ(blocks.element_shape, (std::vector<std::int64_t>{3, 64}));
    EXPECT_EQ(blocks.shape, (std::vector<std::int64_t>{3, 34}));
    const auto whole = read_whole(blocks);
    ASSERT_TRUE(whole.ok());
    EXPECT_EQ(whole.value().bytes, to_bytes(std::string(102, 'm')));
    ASSERT_EQ(listing.value().metadata.size(), 1u);
    EXPECT_EQ(listing.value().metadata[0].second, "gpt-oss");
}

TEST(Gguf, RefusesWhatItCannotBelieve) {
    const auto refused = [](const GgufText& given, std::string_view part) {
        expect_error(list_gguf(source_of(gguf_text(given))), "f", part);
    };
    refused({.magic = "GGUX"}, "is no GGUF");
    refused({.version = 1}, "version 1");
    refused({.version = 3 << 24}, "big endian");
    refused({.tensors = std::uint64_t{1} << 60}, "");
    refused({.type = 38}, "type 38");
    refused({.offset = 33}, "no multiple of the alignment");
    refused({.offset = 64}, "are not in the file");
    refused({.offset = 0}, "overlap");
    refused({.columns = 63}, "a multiple of 32");
    refused({.columns = std::uint64_t{1} << 62}, "larger than any memory");
    refused({.second = "norm"}, "two tensors named 'norm'");
    const std::string good = gguf_text({});
    for (std::size_t length = 0; length < good.size(); ++length)
        EXPECT_FALSE(list_gguf(source_of(good.substr(0, length))).ok()) << length;
}

// --- torch
// -----------------------------------------------------------------------------------------

std::string text_op(const std::string& text) {
    return "X" + number(text.size(), 4) + text;
}
std::string persistent(const std::string& storage_class, const std::string& key, int count) {
    return "(" + text_op("storage") + "c" + storage_class + "\n" + text_op(key) + text_op("cpu") +
           "K" + static_cast<char>(count) + "tQ";
}
std::string tensor_op(const std::string& storage, const std::string& shape,
                      const std::string& stride, char offset = 0) {
    return std::string("ctorch._utils\n_rebuild_tensor_v2\n(") + storage + "K" + offset + shape +
           stride + "\x89" + "ccollections\nOrderedDict\n)RtR";
}
const std::string shape_2_2 = "K\2K\2\x86", stride_2_1 = "K\2K\1\x86", stride_1_2 = "K\1K\2\x86";
const std::string floats = persistent("torch\nFloatStorage", "0", 4);

std::string torch_text(const std::string& pickle, const std::string& storage = "0123456789abcdef") {
    return zip_text({{"m/data.pkl", "\x80\2" + pickle + ".", ZipText::Method::stored},
                     {"m/byteorder", "little", ZipText::Method::stored},
                     {"m/data/0", storage, ZipText::Method::stored}});
}

TEST(Torch, ListsTensorsOfNestedDicts) {
    const std::string pickle = std::string("}q\0(", 4) + text_op("model") + "}(" +
                               text_op("weight") + tensor_op(floats, shape_2_2, stride_2_1) +
                               text_op("step") + "K\7u" + text_op("x") +
                               tensor_op(floats, "K\2\x85", "K\1\x85", 2) + "u";
    const auto listing = list_torch(source_of(torch_text(pickle)));
    ASSERT_TRUE(listing.ok()) << listing.error().message;
    const auto all = read_all(listing.value());
    ASSERT_TRUE(all.ok());
    ASSERT_EQ(all.value().tensors.size(), 2u);
    EXPECT_EQ(all.value().tensors[0],
              (HostTensor{"model.weight", "f32", {2, 2}, to_bytes("0123456789abcdef")}));
    EXPECT_EQ(all.value().tensors[1], (HostTensor{"x", "f32", {2}, to_bytes("89abcdef")}));
}

TEST(Torch, RunsNothingThatAPickleNames) {
    const auto refused = [](const std::string& pickle, std::string_view part) {
        expect_error(list_torch(source_of(torch_text(pickle))), "f", part);
    };
    refused("cos\nsystem\n(X\4\0\0\0trueatR", "names 'os system'");
    refused("cbuiltins\neval\n" + text_op("1") + "\x85R", "names 'builtins eval'");
    refused("ctorch\nload\n)R", "names 'torch load'");
    refused("ccollections\nOrderedDict\n" + text_op("x") + "\x85R", "in another way");
    refused("I1\n", "opcode 73");
    refused(tensor_op(floats, shape_2_2, stride_1_2), "not contiguous");
    refused(tensor_op(floats, "K\5\x85", "K\1\x85"), "20 bytes from element 0 of a storage");
    refused(tensor_op(floats, "K\2\x85", "K\1\x85", 3), "8 bytes from element 3");
    refused(tensor_op(persistent("torch\nFloatStorage", "9", 4), shape_2_2, stride_2_1),
            "is not in the archive");
    refused("}(" + text_op("a") + "u", "a key without a value");
    refused("h\1", "recalls");
    refused("R", "takes more than it has made");
    refused("u", "has no mark");
    refused("NN", "no single object");
    // A list that holds itself.
    refused("]q\1(h\1e", "contain themselves");
}

// A list of two lists of two lists, and so on: 2^30 items in some hundred bytes.
TEST(Torch, SmallPicklesAreNoHugeListings) {
    std::string doubled = "]q\1";
    for (int i = 1; i < 31; ++i)
        doubled += "h" + std::string(1, static_cast<char>(i)) + "h" +
                   std::string(1, static_cast<char>(i)) + "\x86q" +
                   std::string(1, static_cast<char>(i + 1));
    doubled += "t";
    expect_error(list_torch(source_of(torch_text("(" + doubled))), "f", "contain themselves");
}

TEST(Torch, Float8AndOldFiles) {
    const std::string v3 = std::string("ctorch._utils\n_rebuild_tensor_v3\n(") +
                           persistent("torch.storage\nUntypedStorage", "0", 16) +
                           std::string("K\0", 2) + "K\x08K\2\x86" + "K\2K\1\x86" + "\x89" +
                           "ccollections\nOrderedDict\n)Rctorch\nfloat8_e4m3fn\ntR";
    const auto listing = list_torch(source_of(torch_text(v3)));
    ASSERT_TRUE(listing.ok()) << listing.error().message;
    EXPECT_EQ(listing.value().tensors[0].type, "e4m3");
    EXPECT_EQ(listing.value().tensors[0].size(), 16u);

    const ScratchDirectory scratch;
    put(scratch.at("old.pt"), "\x80\2\x8a\x0al\xfc\x9c");
    expect_error(list_tensors(scratch.at("old.pt")), scratch.at("old.pt"), "before 1.6");
    put(scratch.at("m.pt"), torch_text(v3));
    EXPECT_TRUE(read_tensor_file(scratch.at("m.pt")).ok());
}

// torch 2.15.0 itself wrote made_by_torch.pt, on 2026-11-26: torch.save of x = randn(4, 32), its
// copies in four other types, x[1:3], a dict and things that are no tensors, after manual_seed(0).
TEST(Torch, AFileThatTorchWrote) {
    const auto file = read_tensor_file(std::string(MX_TEST_DATA) + "/made_by_torch.pt");
    ASSERT_TRUE(file.ok()) << file.error().message;
    const auto at = [&](const std::string& name) {
        for (const HostTensor& tensor : file.value().tensors)
            if (tensor.name == name) return tensor;
        ADD_FAILURE() << "no tensor " << name;
        return HostTensor{};
    };
    using Shape = std::vector<std::int64_t>;
    const HostTensor x = at("x");
    EXPECT_EQ(x.type, "f32");
    EXPECT_EQ(x.shape, (Shape{4, 32}));
    const auto begins = [](const HostTensor& tensor, std::initializer_list<int> bytes) {
        std::size_t i = 0;
        for (const int byte : bytes) EXPECT_EQ(std::to_integer<int>(tensor.bytes.at(i++)), byte);
    };
    begins(x, {0x85, 0x1b, 0x90, 0xbf, 0x8a, 0x80, 0x93, 0xbf});
    begins(at("bf16"), {0x90, 0xbf, 0x94, 0xbf, 0x80, 0xbe, 0xde, 0xbe});
    begins(at("codes"), {0xb9, 0xb9, 0xa8, 0xae, 0x36, 0x33, 0xaa, 0xc0});
    EXPECT_EQ(at("half").type, "f16");
    EXPECT_EQ(at("codes").type, "e4m3");
    EXPECT_EQ(at("scales").type, "e8m0");
    EXPECT_EQ(at("scales").bytes, std::vector<std::byte>(4, std::byte{127}));
    EXPECT_EQ(at("rows").shape, (Shape{2, 32}));
    EXPECT_TRUE(std::ranges::equal(at("rows").bytes,
                                   std::span(x.bytes).subspan(32 * sizeof(float), 64 * 4)));
    begins(at("nested.bytes"), {0, 1, 2, 3, 4, 5});
    EXPECT_EQ(file.value().tensors.size(), 7u);
}

// --- an index of safetensors
// -------------------------------------------------------------------------

TEST(Shards, TensorsOfAllFilesOfAnIndex) {
    const ScratchDirectory scratch;
    const auto one = [](const std::string& name, const std::string& bytes) {
        return safetensors_text(
            "{\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", bytes);
    };
    put(scratch.at("m-1.safetensors"), one("a", "xy"));
    put(scratch.at("m-2.safetensors"), one("b", "zw"));
    const auto index = [&](const std::string& map) {
        put(scratch.at("m.safetensors.index.json"), map);
        return list_tensors(scratch.at("m.safetensors.index.json"));
    };
    const std::string a = "\"a\":\"m-1.safetensors\"", b = "\"b\":\"m-2.safetensors\"";
    const auto listing = index("{\"metadata\":{},\"weight_map\":{" + a + "," + b + "}}");
    ASSERT_TRUE(listing.ok()) << listing.error().message;
    const auto all = read_all(listing.value());
    ASSERT_TRUE(all.ok());
    EXPECT_EQ(all.value().tensors[1], (HostTensor{"b", "u8", {2}, to_bytes("zw")}));

    const std::string name = scratch.at("m.safetensors.index.json");
    expect_error(index("[]"), name, "no JSON object");
    expect_error(index("{}"), name, "weight_map");
    expect_error(index(std::string(1000, '[')), name, "no JSON object");
    expect_error(index("{\"weight_map\":{\"a\":3}}"), name, "names no file for 'a'");
    expect_error(index("{\"weight_map\":{\"a\":\"../m-1.safetensors\"}}"), name, "beside it");
    expect_error(index("{\"weight_map\":{\"q\":\"m-1.safetensors\"}}"), name,
                 "says nothing of tensor 'a'");
    expect_error(index("{\"weight_map\":{" + a + ",\"q\":\"m-1.safetensors\"}}"), name,
                 "names 2 tensors, but its files hold 1");
    expect_error(index("{\"weight_map\":{\"a\":\"m-3.safetensors\"}}"),
                 scratch.at("m-3.safetensors"), "cannot open");
}

TEST(Listing, EveryContainerByItsName) {
    const ScratchDirectory scratch;
    put(scratch.at("x.npz"),
        zip_text({{"a.npy", npy_text(array_header, "abcdefgh"), ZipText::Method::deflated}}));
    put(scratch.at("x.gguf"), gguf_text({}));
    put(scratch.at("x.bin"), torch_text(tensor_op(floats, shape_2_2, stride_2_1)));
    for (const char* name : {"x.npz", "x.gguf", "x.bin"}) {
        const auto listing = list_tensors(scratch.at(name));
        EXPECT_TRUE(listing.ok()) << listing.error().message;
    }
    EXPECT_EQ(list_tensors(scratch.at("x.npz"), {"u32"}).ok(), false);
    expect_error(list_tensors(scratch.at("x.gguf"), {"bf16"}), scratch.at("x.gguf"),
                 "names its own types");
}

// A file of the fuzzers' corpus is named after what it breaks; good_ ones break nothing. Files of
// safetensors that an index names are not there, so its good_ ones are left to the fuzz target.
TEST(Listing, TheCorpusIsAsItIsNamed) {
    using List = std::function<Expected<TensorListing>(const SharedSource&)>;
    const std::vector<std::pair<std::string, List>> containers{
        {"npz", [](const SharedSource& source) { return list_npz(source); }},
        {"gguf", list_gguf},
        {"torch", list_torch}};
    std::size_t seen = 0;
    for (const auto& [container, list] : containers)
        for (const auto& file :
             std::filesystem::directory_iterator(std::string(MX_CORPUS) + "/" + container)) {
            const std::string name = file.path().filename().string();
            auto source = open_file(file.path().string());
            ASSERT_TRUE(source.ok());
            auto listing = list(std::move(source).value());
            const bool is_whole = listing.ok() && read_all(listing.value()).ok();
            EXPECT_EQ(is_whole, name.starts_with("good_")) << container << "/" << name;
            ++seen;
        }
    EXPECT_GT(seen, 50u);
}

}  // namespace
}  // namespace mx::data
