// The watch on memory, without a process: the test plays the device.
#include "device/host/call_buffers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>

namespace mx {
namespace {

// Lays out a question in aligned memory and lets `work` write to it between the stages.
struct Call {
    explicit Call(const Question& asked)
        : question(asked),
          placement(place(question).value()),
          words((placement.size + 7) / 8),
          memory(std::as_writable_bytes(std::span(words))),
          buffers(question, placement, memory) {}
    Call(const Call&) = delete;

    using Work = std::function<void(Call&, int run)>;
    std::vector<OutputTensor> run_twice(const Work& work) {
        buffers.fill();
        buffers.poison(first_poison);
        work(*this, 1);
        std::vector<OutputTensor> outputs = buffers.first_outputs();
        buffers.inspect(findings);
        buffers.poison(second_poison);
        buffers.load_second_inputs();
        work(*this, 2);
        buffers.flag(outputs);
        buffers.inspect(findings);
        return outputs;
    }
    std::byte* output(std::size_t index) { return &memory[placement.outputs[index].offset]; }
    std::byte* input(std::size_t index) { return &memory[placement.inputs[index].offset]; }

    Question question;
    Placement placement;
    std::vector<std::uint64_t> words;
    std::span<std::byte> memory;
    CallBuffers buffers;
    Findings findings;
};

Question bytes_out(const TensorSpec& spec) {
    Question question;
    question.outputs.push_back(spec);
    return question;
}

TEST(CallBuffers, PoisonsDifferInEveryBit) {
    EXPECT_EQ(first_poison ^ second_poison, std::byte{0xFF});
}

TEST(CallBuffers, TensorsHaveZonesOfTheirOwnAndAlignment) {
    const std::vector<std::byte> data(12);
    Question question = bytes_out(dense("e4m3", 3, 1));
    question.inputs.push_back({dense("f32", 3, 1), data});
    question.outputs.push_back(dense("e8m0", 0, 7));
    const Placement placement = place(question).value();
    std::size_t end = 0;
    for (const PlacedTensor* tensor :
         {&placement.inputs[0], &placement.outputs[0], &placement.outputs[1]}) {
        EXPECT_EQ(tensor->region.begin, end);
        EXPECT_EQ(tensor->offset % 64, 0u);
        EXPECT_GE(tensor->offset, end + 256);
        EXPECT_GE(tensor->region.end, tensor->offset + tensor->extent + 256);
        end = tensor->region.end;
    }
    EXPECT_EQ(placement.size, end);
}

TEST(CallBuffers, AMalformedQuestionIsASentence) {
    Question question = bytes_out(dense("f64", 1, 1));
    EXPECT_EQ(place(question).error().message, "output 0: tensor type \"f64\" is unknown");
    question = bytes_out({"e4m3", 3, 5, 0, 1});
    EXPECT_EQ(place(question).error().message,
              "output 0: elements of e4m3 3 x 5, strides 0 and 1 overlap");
    const std::vector<std::byte> data(12);
    question = bytes_out(dense("e4m3", 1, 1));
    question.inputs.push_back({dense("f32", 1, 4), data});
    EXPECT_EQ(place(question).error().message,
              "input 0: 12 bytes were given, f32 1 x 4, strides 4 and 1 needs 16");
    const std::int64_t huge = std::int64_t{1} << 62;
    question = bytes_out(dense("e4m3", 1, huge));
    for (int i = 0; i < 4; ++i) question.outputs.push_back(dense("e4m3", 1, huge));
    EXPECT_EQ(place(question).error().message,
              "output 3: the tensors are larger than the address space");
}

TEST(CallBuffers, EveryWrittenElementComesBackDenseAndClean) {
    for (const TensorSpec& spec :
         {dense("bf16", 3, 5), TensorSpec{"bf16", 3, 5, 8, 1}, TensorSpec{"bf16", 3, 5, 1, 3}}) {
        Call call(bytes_out(spec));
        const auto outputs = call.run_twice([&](Call& self, int) {
            for (std::int64_t i = 0; i < 15; ++i) {
                const auto place =
                    static_cast<std::size_t>(i / 5 * spec.row_stride + i % 5 * spec.column_stride);
                const auto value = static_cast<std::uint16_t>(1000 + i);
                std::memcpy(self.output(0) + 2 * place, &value, 2);
            }
        });
        ASSERT_EQ(outputs[0].bytes.size(), 30u);
        for (std::size_t i = 0; i < 15; ++i) {
            std::uint16_t value = 0;
            std::memcpy(&value, &outputs[0].bytes[2 * i], 2);
            EXPECT_EQ(value, 1000 + i);
        }
        EXPECT_EQ(outputs[0].flags, std::vector<std::uint8_t>(15, 0));
        EXPECT_EQ(outputs[0].unwritten + outputs[0].differing, 0u);
        EXPECT_TRUE(call.findings.empty()) << to_text(spec);
    }
}

TEST(CallBuffers, OneByteThatKeptBothPoisonsIsUnwritten) {
    for (const TensorSpec& spec : {dense("f32", 20, 20), TensorSpec{"f32", 20, 20, 1, 21}}) {
        for (const std::size_t lost : {std::size_t{0}, std::size_t{70}, std::size_t{399}}) {
            Call call(bytes_out(spec));
            const auto outputs = call.run_twice([&](Call& self, int) {
                for (std::size_t i = 0; i < 400; ++i) {
                    const std::size_t place = i / 20 * static_cast<std::size_t>(spec.row_stride) +
                                              i % 20 * static_cast<std::size_t>(spec.column_stride);
                    std::memset(self.output(0) + 4 * place, 7, i == lost ? 3 : 4);
                }
            });
            std::vector<std::uint8_t> expected(400, 0);
            expected[lost] = flag_unwritten;
            EXPECT_EQ(outputs[0].flags, expected);
            EXPECT_EQ(outputs[0].unwritten, 1u);
            EXPECT_EQ(outputs[0].differing, 0u);
        }
    }
}

TEST(CallBuffers, APoisonThatIsTheAnswerIsWritten) {
    Call call(bytes_out(dense("e4m3", 1, 2)));
    const auto outputs = call.run_twice([&](Call& self, int) {
        self.output(0)[0] = first_poison;
        self.output(0)[1] = second_poison;
    });
    EXPECT_EQ(outputs[0].flags, (std::vector<std::uint8_t>{0, 0}));
}

TEST(CallBuffers, OneOfThePoisonsAloneIsNotUnwritten) {
    Call call(bytes_out(dense("e4m3", 1, 2)));
    const auto outputs = call.run_twice([&](Call& self, int run) {
        self.output(0)[0] = run == 1 ? first_poison : std::byte{1};
        self.output(0)[1] = run == 2 ? second_poison : std::byte{1};
    });
    EXPECT_EQ(outputs[0].flags, (std::vector<std::uint8_t>{flag_differs, flag_differs}));
}

TEST(CallBuffers, RunsThatDifferAreFlaggedPerElement) {
    Call call(bytes_out(dense("f32", 1, 3)));
    const auto outputs = call.run_twice([&](Call& self, int run) {
        std::memset(self.output(0), 0, 12);
        self.output(0)[6] = static_cast<std::byte>(run);
    });
    EXPECT_EQ(outputs[0].flags, (std::vector<std::uint8_t>{0, flag_differs, 0}));
    EXPECT_EQ(outputs[0].differing, 1u);
    EXPECT_EQ(outputs[0].bytes[6], std::byte{1});
}

TEST(CallBuffers, InputsAreRestoredAndToldOnce) {
    const std::vector<std::byte> data(60, std::byte{9});
    Question question = bytes_out(dense("e4m3", 0, 0));
    question.inputs.push_back({dense("f32", 1, 2), std::span(data).first(8)});
    question.inputs.push_back({dense("f32", 3, 5), data});
    Call call(question);
    call.run_twice([&](Call& self, int run) {
        EXPECT_EQ(std::memcmp(self.input(1), data.data(), 60), 0) << "run " << run;
        self.input(1)[4 * 7] = std::byte{1};
        self.input(1)[4 * 7 + 3] = std::byte{1};
        self.input(1)[4 * 12] = std::byte{1};
    });
    ASSERT_EQ(call.findings.modified_inputs.size(), 1u);
    EXPECT_EQ(call.findings.modified_inputs[0].tensor, 1u);
    EXPECT_EQ(call.findings.modified_inputs[0].first_element, 7u);
    EXPECT_EQ(call.findings.modified_inputs[0].count, 2u);
    EXPECT_TRUE(call.findings.red_zone_hits.empty());
}

TEST(CallBuffers, AWriteOnlyInTheSecondRunIsSeen) {
    const std::vector<std::byte> data(8);
    Question question = bytes_out(dense("e4m3", 1, 1));
    question.inputs.push_back({dense("f32", 1, 2), data});
    Call call(question);
    call.run_twice([&](Call& self, int run) {
        self.output(0)[0] = std::byte{1};
        if (run == 2) self.output(0)[1] = std::byte{1};
        if (run == 2) self.input(0)[4] = std::byte{1};
    });
    EXPECT_EQ(call.findings.red_zone_hits.size(), 1u);
    EXPECT_EQ(call.findings.modified_inputs.size(), 1u);
}

// A buffer in a layout of its own is one row of bytes: each is poisoned, watched and flagged.
TEST(CallBuffers, APackedOutputComesBackAsItLies) {
    Call call(bytes_out({"e8m0", 2, 3, 0, 0, "8x4"}));
    const auto outputs = call.run_twice([&](Call& self, int run) {
        for (std::size_t byte = 0; byte < 32; ++byte)
            if (byte != 9) self.output(0)[byte] = static_cast<std::byte>(byte);
        if (run == 2) self.output(0)[20] = std::byte{0xEE};
        self.output(0)[32] = std::byte{0};
    });
    ASSERT_EQ(outputs[0].bytes.size(), 32u);
    EXPECT_EQ(outputs[0].bytes[31], std::byte{31});
    EXPECT_EQ(outputs[0].bytes[9], first_poison);
    std::vector<std::uint8_t> expected(32, 0);
    expected[9] = flag_unwritten;
    expected[20] = flag_differs;
    EXPECT_EQ(outputs[0].flags, expected);
    ASSERT_EQ(call.findings.red_zone_hits.size(), 1u);
    EXPECT_EQ(call.findings.red_zone_hits[0].first_byte, 0);
}

TEST(CallBuffers, TheSecondRunGetsTheSecondInput) {
    const std::vector<std::byte> first(32, std::byte{1}), second(32, std::byte{2});
    Question question = bytes_out(dense("e4m3", 1, 1));
    question.inputs.push_back({{"e8m0", 1, 1, 0, 0, "8x4"}, first, second});
    Call call(question);
    call.run_twice([&](Call& self, int run) {
        EXPECT_EQ(self.input(0)[31], std::byte{static_cast<unsigned char>(run)});
        self.output(0)[0] = std::byte{1};
        if (run == 2) self.input(0)[5] = std::byte{9};
    });
    ASSERT_EQ(call.findings.modified_inputs.size(), 1u);
    EXPECT_EQ(call.findings.modified_inputs[0].first_element, 5u);
    EXPECT_EQ(call.findings.modified_inputs[0].count, 1u);

    question.inputs[0].second_data = std::span(second).first(31);
    EXPECT_EQ(place(question).error().message,
              "input 0: 31 bytes were given, e8m0 1 x 1 in layout 8x4 needs 32");
}

struct ZoneCase {
    TensorRole role;
    std::int64_t offset;  // from the first byte of a strided 2 x 3 tensor of f32, row stride 4
    RedZoneSide side;
    std::int64_t told;
};

TEST(CallBuffers, EachSideOfEachTensorIsWatched) {
    const std::int64_t extent = 7 * 4;
    for (const TensorRole role : {TensorRole::input, TensorRole::output}) {
        for (const ZoneCase& zone :
             {ZoneCase{role, -1, RedZoneSide::before, -1},
              ZoneCase{role, -4096, RedZoneSide::before, -4096},
              ZoneCase{role, 12, RedZoneSide::gap, 12}, ZoneCase{role, 15, RedZoneSide::gap, 15},
              ZoneCase{role, extent, RedZoneSide::after, 0},
              ZoneCase{role, extent + 4095, RedZoneSide::after, 4095}}) {
            const std::vector<std::byte> data(extent);
            Question question = bytes_out({"f32", 2, 3, 4, 1});
            question.inputs.push_back({{"f32", 2, 3, 4, 1}, data});
            Call call(question);
            call.run_twice([&](Call& self, int) {
                std::byte* base = role == TensorRole::input ? self.input(0) : self.output(0);
                base[zone.offset] ^= std::byte{0x40};
            });
            ASSERT_EQ(call.findings.red_zone_hits.size(), 1u) << zone.offset;
            const RedZoneHit& hit = call.findings.red_zone_hits[0];
            EXPECT_EQ(hit.role, role);
            EXPECT_EQ(hit.side, zone.side);
            EXPECT_EQ(hit.first_byte, zone.told);
            EXPECT_EQ(hit.count, 1u);
            EXPECT_TRUE(call.findings.modified_inputs.empty());
        }
    }
}

}  // namespace
}  // namespace mx
