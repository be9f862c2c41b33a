// The functions of mx_oracle.h: each reads its call, does one thing and turns whatever goes wrong
// into a status.
#include "conformance/library/mx_oracle.h"

#include <cstdlib>
#include <cstring>
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

const mx_oracle_options* checked(const mx_oracle_options* options) {
    if (options != nullptr && options->struct_size < sizeof(mx_oracle_options))
        kit::invalid("mx_oracle_options.struct_size is smaller than this library's struct");
    return options;
}

bool is_bounded(const mx_oracle_options* options) {
    return options != nullptr && kit::text_of(options->model).starts_with("bounded");
}

// Whether the question is one, before any tensor is copied or read.
void expect_known(const kit::Arguments& call, const mx_oracle_options* options) {
    read_calls(PlainCall(call, Loaded::nothing).call(), kit::Buffers::absent, options);
}

// Bits come from sums or from a model: a bound only judges them.
void expect_no_bound(const mx_oracle_options* options) {
    if (is_bounded(options))
        kit::not_supported("model " + kit::in_double_quotes(options->model) +
                           " is a bound, which mx_oracle_compare alone takes");
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
        const kit::Arguments call{operation, inputs, input_count, outputs, output_count};
        const kit::Call whole(call, kit::Buffers::absent);
        library::expect_no_bound(library::checked(options));
        library::expect_known(call, options);
    });
}

mx_status mx_oracle_run(const mx_operation* operation, const mx_tensor* inputs,
                        std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                        const mx_oracle_options* options, mx_message* message) {
    return library::guarded(message, [&] {
        const kit::Arguments call{operation, inputs, input_count, outputs, output_count};
        const kit::Call whole(call, kit::Buffers::present);
        library::expect_no_bound(library::checked(options));
        library::expect_sound_oracle();
        if (library::needs_copies(call)) library::expect_known(call, options);
        const library::PlainCall plain(call, library::Loaded::inputs);
        for (const library::OracleCall& side :
             library::read_calls(plain.call(), kit::Buffers::present, options))
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
        const kit::Arguments call{operation, inputs, input_count, answers, answer_count};
        const kit::Call whole(call, kit::Buffers::present);
        const std::size_t places = library::checked(options) == nullptr ? 0 : options->places_max;
        library::expect_sound_oracle();
        if (library::needs_copies(call)) library::expect_known(call, options);
        const library::PlainCall plain(call, library::Loaded::everything);
        *json = library::given_away(library::comparison_of(
            library::read_calls(plain.call(), kit::Buffers::present, options), places));
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
        if (block->struct_size < sizeof(mx_oracle_block))
            kit::invalid("mx_oracle_block.struct_size is smaller than this library's struct");
        library::expect_sound_oracle();
        const auto target = mx::emulate::target_of_values(
            {.values = library::name(block->values, "mx_oracle_block.values"),
             .format = library::name(block->format, "mx_oracle_block.format"),
             .dialect = library::name(block->dialect, "mx_oracle_block.dialect"),
             .input = library::name(block->type, "mx_oracle_block.type")});
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
