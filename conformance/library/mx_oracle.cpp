// The functions of mx_oracle.h: each reads its call, does one thing and turns whatever goes wrong
// into a status.
#include "conformance/library/mx_oracle.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>

#include "conformance/emulate/explain.hpp"
#include "conformance/emulate/listing.hpp"
#include "conformance/library/answer.hpp"
#include "conformance/library/build.hpp"
#include "conformance/library/comparison.hpp"
#include "conformance/library/edge_cases.hpp"
#include "conformance/library/plain_call.hpp"
#include "conformance/oracle/oracle_status.hpp"

namespace mx::library {
namespace {

// A shape whose copy no memory holds is one more way to have too little of it.
template <typename Work>
mx_status guarded(mx_message* message, Work work) noexcept {
    return kit::guarded(message, [&work] {
        try {
            work();
        } catch (const std::length_error&) {
            throw kit::Refusal{MX_OUT_OF_MEMORY, "a copy of a tensor is larger than any memory"};
        }
    });
}

void expect_sound_oracle() {
    if (const Status sound = oracle_status(); !sound)
        throw kit::Refusal{MX_FAILED, sound.error().message};
}

// The end of the last member that version 1 of the header had.
constexpr std::size_t options_of_version_1 =
    offsetof(mx_oracle_options, places_max) + sizeof(mx_oracle_options::places_max);
constexpr std::size_t block_of_version_1 =
    offsetof(mx_oracle_block, values) + sizeof(mx_oracle_block::values);

// That of the mx_gemm of device ABI 6, which the first version of this library had.
constexpr std::size_t gemm_of_version_1 = offsetof(mx_gemm, algorithm) + sizeof(mx_gemm::algorithm);

// A struct of a program that was built with another version of the header: what it lacks is 0, and
// what it has beyond this library's must be 0.
template <typename Struct>
Struct known_part(const Struct& given, std::size_t least, const std::string& what) {
    if (given.struct_size < least)
        kit::invalid(what + ".struct_size is smaller than the struct ever was");
    const std::size_t known = std::min(given.struct_size, sizeof(Struct));
    const std::span<const std::byte> beyond(reinterpret_cast<const std::byte*>(&given) + known,
                                            given.struct_size - known);
    if (std::any_of(beyond.begin(), beyond.end(), [](std::byte b) { return b != std::byte{}; }))
        kit::not_supported(what + " has members that this library does not know");
    Struct part{};
    std::memcpy(&part, &given, known);
    return part;
}

// What a call was given as options, or nothing.
class Options {
public:
    explicit Options(const mx_oracle_options* given) {
        if (given != nullptr)
            known_ = known_part(*given, options_of_version_1, "mx_oracle_options");
    }
    const mx_oracle_options* get() const { return known_ ? &*known_ : nullptr; }
    std::string_view model() const { return known_ ? kit::text_of(known_->model) : ""; }
    std::size_t places_max() const { return known_ ? known_->places_max : 0; }

private:
    std::optional<mx_oracle_options> known_;
};

// What is asked, with every member of mx_gemm that this library knows.
class Question {
public:
    explicit Question(const mx_operation* given) : given_(given) {
        // What these are is said where the whole call is looked at.
        if (given == nullptr || given->struct_size < sizeof(mx_operation)) return;
        if (given->gemm == nullptr) return;
        gemm_ = known_part(*given->gemm, gemm_of_version_1, "mx_gemm");
        gemm_.struct_size = sizeof gemm_;
        operation_ = *given;
        operation_.struct_size = sizeof operation_;
        operation_.gemm = &gemm_;
        given_ = &operation_;
    }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

    const mx_operation* get() const { return given_; }

private:
    const mx_operation* given_;
    mx_operation operation_{};
    mx_gemm gemm_{};
};

// In tiles each group of a grouped gemm begins one, which the copies of tensors do not know.
void expect_no_groups_in_tiles(const kit::Arguments& call) {
    if (call.operation->gemm == nullptr || call.operation->gemm->groups == 0) return;
    for (std::size_t i = 0; i < call.input_count; ++i) {
        const char* layout = kit::tensor_at(call.inputs, i).layout;
        if (find_scale_layout(kit::text_of(layout)) != nullptr)
            kit::not_supported("the oracle takes the scales of a grouped gemm row by row, not as " +
                               kit::in_double_quotes(layout));
    }
}

// Whether the question is one, before any tensor is copied or read.
void expect_known(const kit::Arguments& call, const mx_oracle_options* options) {
    expect_no_groups_in_tiles(call);
    read_calls(PlainCall(call, Loaded::nothing).call(), kit::Buffers::absent, options);
}

// Bits come from sums or from a model: a bound only judges them.
void expect_no_bound(const Options& options) {
    if (options.model().starts_with("bounded"))
        kit::not_supported("model " + kit::in_double_quotes(options.model()) +
                           " is a bound, which mx_oracle_compare alone takes");
}

// A device need not round once: without a model it is held to what every order of its sums gives.
void expect_no_exact_sums(const Options& options) {
    if (options.model() == "exact")
        kit::not_supported(
            "mx_oracle_compare takes no model \"exact\": without a model it judges the outputs "
            "that "
            "every order of summation gives; compare the bits of mx_oracle_run yourself");
}

// Text in memory that the caller frees.
char* given_away(const std::string& text) {
    char* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

template <typename Place>
void expect_place(Place* place, const char* what) {
    if (place == nullptr) kit::invalid(std::string("there is no place to store ") + what);
}

std::string name(const char* text, const char* what) {
    if (text == nullptr) kit::invalid(std::string(what) + " is NULL");
    return text;
}

void edge_cases(const EdgeRequest& request, mx_tensor& stored) {
    const auto found = edge_blocks(request);
    if (!found) kit::not_supported(found.error().message);
    const EdgeBlocks& blocks = found.value();
    const auto width = static_cast<std::size_t>(blocks.type.code_bytes());
    auto* data = static_cast<unsigned char*>(std::malloc(blocks.codes.size() * width + 1));
    if (data == nullptr) throw std::bad_alloc();
    for (std::size_t i = 0; i < blocks.codes.size(); ++i)
        std::memcpy(data + i * width, &blocks.codes[i], width);
    // The names of the table's rows are literals.
    stored = {sizeof(mx_tensor), data,           blocks.type.name.data(), "host", "strided",
              blocks.rows,       blocks.columns, blocks.columns,          1};
}

}  // namespace
}  // namespace mx::library

namespace library = mx::library;
namespace kit = mx::kit;

std::uint32_t mx_oracle_version(void) {
    return MX_ORACLE_VERSION;
}

const char* mx_oracle_build(void) {
    try {
        return library::build_json();
    } catch (const std::exception&) {
        return "{}";
    }
}

mx_status mx_oracle_check(mx_message* message) {
    return library::guarded(message, [] { library::expect_sound_oracle(); });
}

mx_status mx_oracle_supports(const mx_operation* operation, const mx_tensor* inputs,
                             std::size_t input_count, const mx_tensor* outputs,
                             std::size_t output_count, const mx_oracle_options* options,
                             mx_message* message) {
    return library::guarded(message, [&] {
        const library::Question question(operation);
        const kit::Arguments call{question.get(), inputs, input_count, outputs, output_count};
        const kit::Call whole(call, kit::Buffers::absent);
        const library::Options known(options);
        library::expect_no_bound(known);
        library::expect_known(call, known.get());
    });
}

mx_status mx_oracle_run(const mx_operation* operation, const mx_tensor* inputs,
                        std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                        const mx_oracle_options* options, mx_message* message) {
    return library::guarded(message, [&] {
        const library::Question question(operation);
        const kit::Arguments call{question.get(), inputs, input_count, outputs, output_count};
        const kit::Call whole(call, kit::Buffers::present);
        const library::Options known(options);
        library::expect_no_bound(known);
        library::expect_sound_oracle();
        if (library::needs_copies(call)) library::expect_known(call, known.get());
        const library::PlainCall plain(call, library::Loaded::inputs);
        for (const library::OracleCall& side :
             library::read_calls(plain.call(), kit::Buffers::present, known.get()))
            library::answer(side);
        plain.store();
    });
}

mx_status mx_oracle_compare(const mx_operation* operation, const mx_tensor* inputs,
                            std::size_t input_count, const mx_tensor* answers,
                            std::size_t answer_count, const mx_oracle_options* options, char** json,
                            mx_message* message) {
    return library::guarded(message, [&] {
        library::expect_place(json, "the JSON");
        const library::Question question(operation);
        const kit::Arguments call{question.get(), inputs, input_count, answers, answer_count};
        const kit::Call whole(call, kit::Buffers::present);
        const library::Options known(options);
        library::expect_no_exact_sums(known);
        library::expect_sound_oracle();
        if (library::needs_copies(call)) library::expect_known(call, known.get());
        const library::PlainCall plain(call, library::Loaded::everything);
        *json = library::given_away(library::comparison_of(
            library::read_calls(plain.call(), kit::Buffers::present, known.get()),
            known.places_max()));
    });
}

mx_status mx_oracle_list(const char* what, char** json, mx_message* message) {
    return library::guarded(message, [&] {
        library::expect_place(json, "the JSON");
        constexpr kit::Named<std::vector<mx::emulate::Listed> (*)()> lists[] = {
            {"formats", mx::emulate::listed_formats},
            {"dialects", mx::emulate::listed_quantizers},
            {"models", mx::emulate::listed_models},
            {"layouts", mx::emulate::listed_layouts}};
        const auto* list = kit::find(lists, kit::text_of(what));
        if (list == nullptr)
            kit::not_supported("no list " + kit::in_double_quotes(what) + "; there are " +
                               kit::names_in(lists));
        *json = library::given_away(mx::emulate::json_of((*list)()));
    });
}

mx_status mx_oracle_explain(const mx_oracle_block* block, char** text, mx_message* message) {
    return library::guarded(message, [&] {
        library::expect_place(text, "the text");
        if (block == nullptr) kit::invalid("the block is NULL");
        const mx_oracle_block known =
            library::known_part(*block, library::block_of_version_1, "mx_oracle_block");
        library::expect_sound_oracle();
        const auto target = mx::emulate::target_of_values(
            {.values = library::name(known.values, "mx_oracle_block.values"),
             .format = library::name(known.format, "mx_oracle_block.format"),
             .dialect = library::name(known.dialect, "mx_oracle_block.dialect"),
             .input = library::name(known.type, "mx_oracle_block.type")});
        if (!target) kit::not_supported(target.error().message);
        const mx::emulate::Explanation explanation = mx::emulate::explain(target.value());
        if (!explanation.fault.empty()) throw kit::Refusal{MX_FAILED, explanation.fault};
        *text = library::given_away(explanation.text);
    });
}

mx_status mx_oracle_edge_cases(const char* format, const char* dialect, const char* type,
                               const char* family, mx_tensor* blocks, mx_message* message) {
    return library::guarded(message, [&] {
        library::expect_place(blocks, "the blocks");
        if (blocks->struct_size < sizeof(mx_tensor))
            kit::invalid("the struct_size of the tensor for the blocks is smaller than mx_tensor");
        library::expect_sound_oracle();
        library::edge_cases(
            {library::name(format, "the format"), library::name(dialect, "the dialect"),
             library::name(type, "the type"), std::string(kit::text_of(family))},
            *blocks);
    });
}

void mx_oracle_free(void* memory) {
    std::free(memory);
}
