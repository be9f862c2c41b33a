// How codes lie in a file: native types where they fit, bytes where not, swizzled scales; and every
// combination there and back.
#include "conformance/emulate/stored_tensors.hpp"

#include <map>

#include "conformance/case/names.hpp"
#include "conformance/emulate/test/tensors.hpp"
#include "reference/spec/layouts.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::emulate::test {
namespace {

const data::HostTensor& elements_of(const QuantizedTensor& result) {
    return result.file.tensors.at(0);
}

TEST(StoredTensors, NativeTypesWhereRowsEndWithWholeBytes) {
    const std::map<std::string, std::string> types{
        {"mxfp8-e4m3", "e4m3"},    {"mxfp8-e5m2", "e5m2"}, {"mxfp6-e3m2", "e3m2"},
        {"mxfp6-e2m3", "e2m3"},    {"mxfp4-e2m1", "e2m1"}, {"mxint8", "i8"},
        {"mxint8-symmetric", "i8"}};
    for (const BlockFormat& format : mx_block_formats) {
        const std::string name(format.name);
        const int bits = format.element().code_bits();
        const QuantizedTensor even = quantized(powers_of_two({2, 36}), names_of(name));
        EXPECT_EQ(elements_of(even).type, types.at(name));
        EXPECT_EQ(elements_of(even).shape, (Shape{2, 36}));
        EXPECT_TRUE(data::check_tensor(elements_of(even)).ok()) << name;
        const QuantizedTensor odd = quantized(powers_of_two({2, 3}), names_of(name));
        EXPECT_TRUE(data::check_tensor(elements_of(odd)).ok()) << name;
        EXPECT_EQ(elements_of(odd).type, bits == 8 ? types.at(name) : "u8");
        EXPECT_EQ(elements_of(odd).shape, (Shape{2, (3 * bits + 7) / 8})) << name;
    }
}

// Three ones and a two in e2m1: codes 4 4 4 6 under the scale 2^-1.
TEST(StoredTensors, NibblesAndInlineScalesByHand) {
    const auto bytes = [](const std::string& packing) {
        BlockNames names = names_of("mxfp4-e2m1");
        names.packing = packing;
        const QuantizedTensor result = quantized(f32_tensor({1, 3}, {2, 2, 3}), names);
        return bytes_of(elements_of(result));
    };
    // amax 3, so the scale is 2^(1 - 2), byte 126: elements 4 4 6, codes 6 6 7.
    EXPECT_EQ(bytes("bytes"), (std::vector<int>{6, 6, 7}));
    EXPECT_EQ(bytes("low_first"), (std::vector<int>{0x66, 0x07}));
    EXPECT_EQ(bytes("high_first"), (std::vector<int>{0x66, 0x70}));
    std::vector<int> whole_block(17, 0);
    whole_block[0] = 0x66;
    whole_block[1] = 0x07;
    whole_block[16] = 126;
    EXPECT_EQ(bytes("inline"), whole_block);
}

// Scale (row 1, block 0) of the 128x4 order is byte 16; of the order row after row it is byte 2.
TEST(StoredTensors, SwizzledScalesHaveThePaddedShape) {
    std::vector<float> values(2 * 33, 1.0f);
    std::fill(values.begin() + 33, values.end(), 2.0f);
    BlockNames names = names_of("mxfp8-e4m3");
    const auto scales = [&](const std::string& order) {
        names.scales = order;
        return quantized(f32_tensor({2, 33}, values), names).file.tensors.at(1);
    };
    EXPECT_EQ(bytes_of(scales("linear")), (std::vector<int>{119, 119, 120, 120}));
    const data::HostTensor swizzled = scales("128x4");
    EXPECT_EQ(swizzled.shape, (Shape{128, 4}));
    std::vector<int> wanted(512, 0);
    wanted[0] = wanted[1] = 119;
    wanted[16] = wanted[17] = 120;
    EXPECT_EQ(bytes_of(swizzled), wanted);
    names.axis = "col";
    names.scales = "128x4";
    EXPECT_EQ(quantized(powers_of_two({3, 33, 5}), names).file.tensors.at(1).shape,
              (Shape{3, 4, 128}));
}

// What is left of a combination that no table allows is "no".
bool goes_together(const BlockNames& names) {
    return check_names(names).ok();
}

void expect_round_trip(const BlockNames& names, const Shape& shape) {
    const data::HostTensor tensor = powers_of_two(shape);
    const QuantizedTensor result = quantized(tensor, names);
    for (const data::HostTensor& stored : result.file.tensors)
        ASSERT_TRUE(data::check_tensor(stored).ok()) << names_text(names);
    const auto facts = read_facts(result.file, names);
    ASSERT_TRUE(facts.ok()) << facts.error().message;
    EXPECT_EQ(facts.value().names, names);
    const auto back = dequantize_tensor(result.file, facts.value(), "f32");
    ASSERT_TRUE(back.ok()) << names_text(names) << ": " << back.error().message;
    EXPECT_EQ(back.value().tensors[0].shape, shape);
    EXPECT_EQ(back.value().tensors[0].bytes, tensor.bytes)
        << names_text(names) << " " << data::shape_text(shape);
}

TEST(StoredTensors, EveryCombinationComesBack) {
    int combinations = 0;
    for (const BlockFormat& format : mx_block_formats)
        for (const std::string& axis : axis_names())
            for (const std::string& block : block_names())
                for (const std::string& scales : scales_names())
                    for (const std::string& packing : packing_names()) {
                        const BlockNames names{
                            std::string(format.name), "ocp", axis, block, scales, packing};
                        if (!goes_together(names)) continue;
                        ++combinations;
                        expect_round_trip(names, {3, 35, 37});
                        expect_round_trip(names, {2, 1});
                        if (axis == "row") expect_round_trip(names, {65});
                    }
    EXPECT_GT(combinations, 300);
}

// Bytes that hold no scale are never read: any pads give the same values.
TEST(StoredTensors, PadsAreNotRead) {
    for (const ScaleLayout& layout : scale_layouts) {
        BlockNames names = names_of("mxfp8-e4m3", "ocp", std::string(name_of(layout.axis)));
        names.scales = name_of(layout.storage);
        const data::HostTensor tensor = powers_of_two({2, 3, 40});
        QuantizedTensor zeros = quantized(tensor, names);
        Codes marks{std::vector<std::byte>(240), {}, {}};
        const auto grid = layout_of(tensor.shape, block_shape(names));
        marks.scales.assign(static_cast<std::size_t>(grid.value().blocks()), std::byte{1});
        const std::vector<data::HostTensor> marked = store(marks, names, grid.value());
        int pads = 0;
        for (std::size_t i = 0; i < marked[1].bytes.size(); ++i)
            if (marked[1].bytes[i] == std::byte{0}) {
                ++pads;
                EXPECT_EQ(zeros.file.tensors[1].bytes[i], std::byte{0}) << layout.name;
                zeros.file.tensors[1].bytes[i] = std::byte{0xff};
            }
        EXPECT_GT(pads, 0) << layout.name;
        const auto back = dequantize_tensor(zeros.file, {names, "f32", tensor.shape}, "f32");
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(back.value().tensors[0].bytes, tensor.bytes) << layout.name;
    }
}

// Every dialect quantizes what its row says, under the metadata of its own hash; one whose rules
// wait for an answer refuses.
TEST(StoredTensors, EveryDialectOfEveryFormat) {
    int pairs = 0;
    for (const Quantizer& dialect : e8m0_quantizers)
        for (const BlockFormat& format : mx_block_formats) {
            const BlockNames names = names_of(std::string(format.name), std::string(dialect.name));
            if (!dialect.quantizes(format)) {
                const Status refused = check_names(names);
                ASSERT_FALSE(refused.ok());
                EXPECT_NE(refused.error().message.find("those that do are ocp"), std::string::npos)
                    << refused.error().message;
                continue;
            }
            data::HostTensor tensor = powers_of_two({1, 33});
            if (!dialect.reads("f32")) {  // of bf16, the upper halves
                std::vector<std::byte> upper;
                for (std::size_t i = 2; i < tensor.bytes.size(); i += 4)
                    upper.insert(upper.end(), {tensor.bytes[i], tensor.bytes[i + 1]});
                tensor = {"x", "bf16", tensor.shape, upper};
            }
            if (!dialect.is_known()) {
                EXPECT_EQ(error_of(quantize_tensor(tensor, names, {.program_version = "0"})),
                          "the scale of dialect '" + names.dialect + "' waits for " +
                              std::string(dialect.waits));
                continue;
            }
            ++pairs;
            const QuantizedTensor result = quantized(tensor, names);
            EXPECT_TRUE(read_facts(result.file, names).ok()) << names_text(names);
        }
    EXPECT_GT(pairs, 30);
}

}  // namespace
}  // namespace mx::emulate::test
