// Tests of recorded answers that are cut, at every byte: what is whole is answered, what is not
// counts as none, and no device is blamed for it.
#include "conformance/session/pack.hpp"

#include <gtest/gtest.h>

#include "conformance/run/evidence.hpp"

namespace mx::session {
namespace {

// Requests of one and of two outputs, of one byte and of many.
const std::vector<std::string> case_texts{
    "quantize format=mxfp8-e4m3 shape=1x3 data=bits:3f800000",
    "convert format=e4m3 shape=1x1 data=bits:3f800000",
    "quantize format=mxfp8-e4m3 shape=2x33 data=bits:3f800000",
};

struct Asked {
    Case c;
    std::vector<CodeTensor> inputs;
    std::vector<std::vector<std::byte>> storage;
    Question question;
};

std::vector<Asked> all_asked() {
    std::vector<Asked> all(case_texts.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        Sources sources;
        all[i].c = parse_case(case_texts[i]).value();
        all[i].inputs = make_inputs(all[i].c, *sources.open(all[i].c).value());
        all[i].question = make_question(all[i].c, all[i].inputs, all[i].storage);
    }
    return all;
}

struct Recorded {
    std::string text;
    std::vector<std::size_t> ends;  // of each answer
};

// A refusal stands before the last answer: a message alone.
Recorded recorded(const std::vector<Asked>& all, pipe::Form form) {
    const bool binary = form == pipe::Form::binary;
    Recorded made{"# Who answered\n{\"mxpipe\":1,\"facts\":{\"name\":\"\\u00e4\"}}\n", {}};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const RequestId id = request_id(all[i].c, all[i].question, {i + 1, all.size()});
        const bool refused = i == 1;
        made.text += "{\"id\":\"" + print(id) + "\",\"status\":\"" +
                     (refused ? "not_supported\",\"reason\":\"no" : "ok") + "\",\"form\":\"" +
                     (binary ? "binary" : "hex") + "\"";
        std::string sizes, data;
        for (const TensorSpec& output : all[i].question.outputs) {
            const std::size_t size = refused ? 0 : pipe::travelling_size(output);
            sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
            const std::vector<std::byte> bytes(size, std::byte{'{'});
            if (binary) data.append(size, '{');
            if (!binary && !refused) pipe::append_hex_line(data, bytes);
        }
        made.text += (binary && !refused ? ",\"bytes\":[" + sizes + "]}\n" : "}\n") + data;
        made.ends.push_back(made.text.size());
    }
    return made;
}

// Without the end of its last line nothing is missing from a message or from digits.
bool is_there(const Recorded& whole, std::size_t answer, std::size_t size) {
    const std::size_t end = whole.ends[answer];
    return size >= end || (size + 1 == end && whole.text[end - 1] == '\n');
}

void expect_cut_anywhere(pipe::Form form) {
    const std::vector<Asked> all = all_asked();
    const Recorded whole = recorded(all, form);
    for (std::size_t size = 0; size <= whole.text.size(); ++size) {
        const auto answers = RecordedAnswers::parse(whole.text.substr(0, size), "cut.answers");
        ASSERT_TRUE(answers) << size << " " << answers.error().message;
        bool all_there = true;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool there = is_there(whole, i, size);
            all_there = all_there && there;
            const DeviceAnswer answer = answers.value().client().ask(all[i].question);
            const AnswerKind given = i == 1 ? AnswerKind::not_supported : AnswerKind::answered;
            ASSERT_EQ(answer.kind, there ? given : AnswerKind::host_error)
                << size << " " << i << " " << answer.reason;
            const std::string place = ", at byte " + std::to_string(size);
            EXPECT_EQ(answer.reason.find(place) != std::string::npos, !there) << answer.reason;
        }
        // Who has no pack learns of it before anything is judged, or by the last answer.
        const bool whole_said = answers.value().is_whole().ok();
        EXPECT_TRUE(whole_said || !all_there) << size;
        EXPECT_EQ(whole_said, answers.value().cases().size() == all.size()) << size;
    }
}

TEST(Answers, CutAtAnyByteAreReadAsFarAsTheyGo) {
    expect_cut_anywhere(pipe::Form::hex);
    expect_cut_anywhere(pipe::Form::binary);
}

TEST(Answers, ThatAreNoneAreRefused) {
    for (const char* text :
         {"hello", "{hello", "\n", "{\"mxpipe\":1}\nhello", "{\"mxpipe\":1}\n{\n"})
        EXPECT_FALSE(RecordedAnswers::parse(text, "no.answers")) << text;
}

// Of a pack no byte may be missing but the last line break: nothing would be asked that nobody
// sees.
TEST(Packs, CutAtAnyByteAreRefused) {
    const std::vector<Asked> all = all_asked();
    for (const pipe::Form form : {pipe::Form::hex, pipe::Form::binary}) {
        std::string text;
        for (std::size_t i = 0; i < all.size(); ++i)
            text += pack_text({all[i].c, all[i].question, {i + 1, all.size()}}, form);
        const auto whole = parse_pack(text, "whole.pack");
        ASSERT_TRUE(whole) << whole.error().message;
        ASSERT_EQ(whole.value().size(), all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(whole.value()[i].c, all[i].c);
            EXPECT_EQ(whole.value()[i].place, (PackPlace{i + 1, all.size()}));
        }
        for (std::size_t size = 0; size + 1 < text.size(); ++size) {
            const auto cut = parse_pack(std::string_view(text).substr(0, size), "cut.pack");
            ASSERT_FALSE(cut.ok()) << size;
            EXPECT_TRUE(cut.error().message.starts_with("cut.pack")) << cut.error().message;
        }
    }
}

TEST(Packs, ARequestThatIsGoneOrThereTwiceIsSeen) {
    const std::vector<Asked> all = all_asked();
    const auto request = [&all](std::size_t i, std::uint64_t number) {
        return pack_text({all[i].c, all[i].question, {number, 3}}, pipe::Form::hex);
    };
    EXPECT_EQ(
        parse_pack(request(0, 1) + request(2, 3), "p").error().message,
        "p:3: request 3 of 3 stands where request 2 of 3 belongs: part of the pack is missing "
        "or another's; gen writes it anew");
    const auto twice = parse_pack(request(0, 1) + request(0, 2), "p");
    ASSERT_FALSE(twice.ok());
    EXPECT_EQ(twice.error().message,
              "p:3: what was asked for before: a pack asks for each case once");
}

// What a device is given is what the answers are judged by.
TEST(Packs, DataThatAreNotTheInputsOfTheCaseAreRefused) {
    const std::vector<Asked> all = all_asked();
    const auto refusal = [&](pipe::Form form, std::string_view from, std::string_view to) {
        std::string text = pack_text({all[0].c, all[0].question, {1, 1}}, form);
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos);
        text.replace(at, from.size(), to);
        const auto read = parse_pack(text, "p");
        return read ? std::string() : read.error().message;
    };
    const std::string why =
        "p:1: the data of this request are not the inputs of its case: they "
        "were changed; gen writes the pack anew";
    EXPECT_EQ(refusal(pipe::Form::hex, "0000803f", "0000803f"), "");
    EXPECT_EQ(refusal(pipe::Form::hex, "0000803f", "0000813f"), why);
    EXPECT_EQ(refusal(pipe::Form::binary, "\x80\x3f", "\x81\x3f"), why);
    EXPECT_EQ(refusal(pipe::Form::hex, "shape=1x3", "shape=40000x40000"), why)
        << "a shape that nothing in the pack is the size of";
    EXPECT_NE(refusal(pipe::Form::hex, "0000803f", "0000zz3f"), "");
}

TEST(Packs, LinesOfAnotherSystemAreRead) {
    const std::vector<Asked> all = all_asked();
    const auto with_carriage_returns = [](const std::string& text) {
        std::string changed;
        for (const char letter : text) changed += letter == '\n' ? "\r\n" : std::string(1, letter);
        return changed;
    };
    std::string pack;
    for (std::size_t i = 0; i < all.size(); ++i)
        pack += pack_text({all[i].c, all[i].question, {i + 1, all.size()}}, pipe::Form::hex);
    EXPECT_TRUE(parse_pack(with_carriage_returns(pack), "p"));
    const auto answers = RecordedAnswers::parse(
        with_carriage_returns(recorded(all, pipe::Form::hex).text), "crlf.answers");
    ASSERT_TRUE(answers) << answers.error().message;
    EXPECT_EQ(answers.value().client().ask(all[0].question).kind, AnswerKind::answered);
    EXPECT_EQ(answers.value().client().ask(all[2].question).kind, AnswerKind::answered);
}

TEST(Packs, TheirSizeIsKnownBeforehand) {
    const std::vector<Case> cases{all_asked()[0].c, all_asked()[2].c};  // 3 and 66 floats
    EXPECT_EQ(pack_size(cases, pipe::Form::binary), 276u);
    EXPECT_EQ(pack_size(cases, pipe::Form::hex), 552u);
}

// A file by itself is somebody else's word: it names no other file, and no shape that it has no
// room for.
TEST(Answers, AloneAskForNothingElse) {
    const auto refusal = [](const std::string& text) {
        const std::string file =
            "{\"mxpipe\":1}\n{\"id\":\"" + text +
            " inputs=0123456789abcdef\",\"status\":\"not_supported\",\"reason\":\"no\"}\n";
        const auto answers = RecordedAnswers::parse(file, "a");
        EXPECT_TRUE(answers) << answers.error().message;
        const Status alone = answers.value().stands_alone();
        return alone ? std::string() : alone.error().message;
    };
    const std::string quantize = "quantize format=mxfp8-e4m3 ";
    EXPECT_EQ(refusal(quantize + "shape=1x32 data=edge.tie"), "");
    EXPECT_NE(refusal(quantize + "shape=1x32 data=file:/etc/passwd").find("another file"),
              std::string::npos);
    EXPECT_NE(refusal(quantize + "shape=40000x40000 data=edge.tie").find("bytes of tensors"),
              std::string::npos);
    EXPECT_NE(refusal("gemm a=mxfp8-e4m3 b=mxfp8-e4m3 output=f32 shape=1024x1x1048576 "
                      "data=gemm.exact-signs")
                  .find("bytes of"),
              std::string::npos);
}

// Elsewhere than at the end of the file it is the device that gave too little.
TEST(Answers, AShortAnswerBeforeTheLastIsTheDevicesFault) {
    const std::vector<Asked> all = all_asked();
    Recorded whole = recorded(all, pipe::Form::hex);
    whole.text.erase(whole.ends[0] - 3, 3);  // the line of its scale
    const auto answers = RecordedAnswers::parse(whole.text, "short.answers");
    ASSERT_TRUE(answers);
    EXPECT_EQ(answers.value().client().ask(all[0].question).kind, AnswerKind::device_error);
}

}  // namespace
}  // namespace mx::session
