// The module of the page: its functions, and what it has no use for. A page opens no file and
// multiplies nothing; a case that asks for that is refused here.
#include <cstdlib>
#include <string>

#include "conformance/case/field_row.hpp"
#include "conformance/case/gemm_row.hpp"
#include "conformance/data/gemm_inputs.hpp"
#include "conformance/data/quantized_file.hpp"
#include "conformance/data/tensor_file.hpp"
#include "conformance/web/explain_entry.hpp"
#include "reference/self_check/oracle_check.hpp"

namespace mx {

const char* const oracle_built_by = MX_BUILT_BY;

std::span<const FieldRow> gemm_field_rows() {
    return {};
}
Expected<std::shared_ptr<const OwnModel>> read_model_word(const std::string&) {
    return bad_input("a page explains no gemm");
}
Expected<std::shared_ptr<const BlockSource>> open_gemm_data(const Case&) {
    return bad_input("a page explains no gemm");
}
std::vector<CodeTensor> make_gemm_inputs(const Case&) {
    std::abort();
}

namespace data {

Expected<TensorFile> read_tensor_file(const std::string& path, const ReadOptions&) {
    return bad_input("a page opens no file: data=file:" + path + " is for mxcheck explain");
}
Status check_value_type(const std::string&) {
    std::abort();
}
Status check_unquantized(const TensorFile&) {
    std::abort();
}
std::string names_text(const std::vector<HostTensor>&) {
    std::abort();
}
std::string in_quotes(std::string_view text) {
    return "'" + std::string(text) + "'";
}

}  // namespace data
}  // namespace mx

namespace {

std::string request;
std::string answer;

int answered(mx::web::PageAnswer given) {
    answer = std::move(given.text);
    return static_cast<int>(given.code);
}

}  // namespace

extern "C" {

// The page writes its request here, as UTF-8, and then calls the function that it wants.
[[clang::export_name("mx_request")]] char* mx_request(std::size_t size) {
    request.assign(size, '\0');
    return request.data();
}

[[clang::export_name("mx_answer")]] const char* mx_answer() {
    return answer.data();
}

[[clang::export_name("mx_answer_size")]] std::size_t mx_answer_size() {
    return answer.size();
}

[[clang::export_name("mx_explain")]] int mx_explain() {
    return answered(mx::web::answer_to(request));
}

[[clang::export_name("mx_tables")]] int mx_tables() {
    return answered({mx::web::PageCode::explained, mx::web::offered_tables()});
}

[[clang::export_name("mx_digest")]] int mx_digest(std::uint32_t first, std::uint32_t count) {
    return answered({mx::web::PageCode::explained, mx::web::digest_of_blocks(first, count)});
}

// Nothing unwinds here: what is thrown, memory that ended above all, ends the call, and the page
// says so. The stack is guarded by the browser.
void* __cxa_allocate_exception(std::size_t) {
    std::abort();
}
void __cxa_throw(void*, void*, void (*)(void*)) {
    std::abort();
}
void* __cxa_begin_catch(void*) {
    std::abort();
}
void __cxa_end_catch() {
    std::abort();
}
void __cxa_rethrow() {
    std::abort();
}
void __cxa_free_exception(void*) {}
std::uintptr_t __stack_chk_guard = 0xE7;
void __stack_chk_fail() {
    std::abort();
}
}
