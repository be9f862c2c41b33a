// See rows.hpp.
#include "conformance/identify/rows.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "conformance/case/case.hpp"
#include "conformance/data/inputs.hpp"
#include "conformance/identify/witness.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/expected.hpp"
#include "reference/spec/layouts.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::identify {
namespace {

using Number = std::optional<std::uint32_t>;  // of the tensor, as its problem has it

// What a device is asked at once: a tensor of some blocks.
struct Probe {
    Case c;
    std::vector<CodeTensor> inputs;
};

struct Reply {
    Probe probe;
    std::vector<CodeTensor> outputs;
};

// An answer to a part of a probe that a row does not predict.
struct Miss {
    std::string text;
    std::size_t numbers = 0;  // in the block that are not zero: fewer are easier to read
};

struct Score {
    std::uint64_t predicted = 0;
    std::optional<Miss> miss;  // the smallest
};

// Where a problem leaves the bits of a NaN open, as of a scale of binary32, all are one.
void join_nans(std::vector<CodeTensor>& outputs) {
    for (CodeTensor& output : outputs) {
        if (output.type != formats::f32.name) continue;
        for (std::size_t i = 0; i < output.count(); ++i)
            if (formats::f32.is_nan(Code{output.at(i)})) output.set(i, formats::f32.code_nan());
    }
}

std::vector<CodeTensor> predicted(const Quantizer& row, const Probe& probe) {
    Case c = probe.c;
    c.dialect = &row;
    std::vector<CodeTensor> outputs = expect(c, probe.inputs);
    join_nans(outputs);
    return outputs;
}

std::uint64_t folded(const std::vector<CodeTensor>& outputs) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const CodeTensor& output : outputs)
        for (const std::byte byte : output.bytes)
            hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3;
    return hash;
}

std::string number_text(const Case& c) {
    if (!has_tensor_number(c)) return "";
    if (!c.tensor_number) return "number of the tensor derived, ";
    return "number of the tensor " + code_with_value(formats::f32, Code{*c.tensor_number}) + ", ";
}

std::uint64_t answers_in(const Case& c) {
    return static_cast<std::uint64_t>(block_grid(c).count()) + (has_tensor_number(c) ? 1 : 0);
}

// Every block and, where there is one, the number that was kept, each an answer of its own.
class Comparison {
public:
    Comparison(const Quantizer& row, const Reply& reply)
        : reply_(reply), c_(reply.probe.c), expected_(predicted(row, reply.probe)) {}

    void add_to(Score& score) const {
        if (std::ranges::equal(expected_, reply_.outputs, {}, &CodeTensor::bytes,
                               &CodeTensor::bytes)) {
            score.predicted += answers_in(c_);
            return;
        }
        for (std::int64_t block = 0; block < block_grid(c_).count(); ++block)
            add(score, block_miss(place_of(blocking_of(c_), block), block));
        if (has_tensor_number(c_)) add(score, number_miss());
    }

private:
    static void add(Score& score, const std::optional<Miss>& miss) {
        if (!miss) ++score.predicted;
        if (miss && (!score.miss || miss->numbers < score.miss->numbers)) score.miss = miss;
    }

    std::optional<Miss> number_miss() const {
        const Code actual{reply_.outputs[2].at(0)}, expected{expected_[2].at(0)};
        if (actual == expected) return std::nullopt;
        return Miss{number_text(c_) + "kept " + code_with_value(formats::f32, actual) + ", not " +
                        code_with_value(formats::f32, expected),
                    static_cast<std::size_t>(element_count(c_))};
    }

    std::optional<Miss> block_miss(const BlockPlace& place, std::int64_t block) const {
        const auto at = static_cast<std::size_t>(block);
        const Code scale{reply_.outputs[1].at(at)}, expected{expected_[1].at(at)};
        const ElementFormat& scales = scale_format_of(c_);
        if (!(scale == expected)) {
            const Amax amax = amax_of(place);
            return Miss{number_text(c_) + "amax " + code_with_value(c_.type, amax.code) +
                            ": scale " + code_with_value(scales, scale) + ", not " +
                            code_with_value(scales, expected),
                        amax.numbers};
        }
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t element = place.element(lane);
            if (reply_.outputs[0].at(element) != expected_[0].at(element))
                return Miss{number_text(c_) + lane_text(element, lane, scale),
                            amax_of(place).numbers};
        }
        return std::nullopt;
    }

    struct Amax {
        Code code;
        std::size_t numbers = 0;  // that are not zero
    };
    Amax amax_of(const BlockPlace& place) const {
        Amax amax;
        for (int lane = 0; lane < place.count; ++lane) {
            const std::uint32_t magnitude =
                reply_.probe.inputs[0].at(place.element(lane)) & c_.type.code_magnitude_mask();
            amax.numbers += magnitude != 0 ? 1 : 0;
            amax.code.bits = std::max(amax.code.bits, magnitude);
        }
        return amax;
    }

    std::string lane_text(std::size_t element, int lane, Code scale) const {
        const ElementFormat& format = element_format_of(c_);
        return "lane " + std::to_string(lane) + ", " +
               code_with_value(c_.type, Code{reply_.probe.inputs[0].at(element)}) +
               " under scale " + code_with_value(scale_format_of(c_), scale) + ": element " +
               code_with_value(format, Code{reply_.outputs[0].at(element)}) + ", not " +
               code_with_value(format, Code{expected_[0].at(element)});
    }

    const Reply& reply_;
    const Case& c_;
    std::vector<CodeTensor> expected_;
};

bool takes_history(const Quantizer& row) {
    return row.tensor_scale == TensorScale::history;
}

// Of an amax or of a scale: ordinary ones, zero, and the ends of the range. The first makes NVFP4's
// tensor scale 1.
constexpr std::uint32_t tensor_numbers[] = {0x45280000, 0x40490FDB, 0x3DCCCCCD,
                                            0x00000000, 0x00000001, 0x00800000,
                                            0x7F7FFFFF, 0x7F800000, 0x7FC00000};
constexpr std::size_t ordinary_numbers = 2;

// Which blocks of a family are asked, and how many of them in one tensor.
struct Draw {
    std::string family;
    Number number;
    std::size_t lanes = 0;     // of all tensors together
    std::uint64_t offset = 0;  // of the first block
    std::uint64_t seed = 0;
};

class Asking {
public:
    Asking(Client client, const Setting& setting)
        : client_(std::move(client)),
          setting_(setting),
          asked_(find_quantizer(setting.dialect)),
          format_(find_block_format(setting.format.name)) {}

    const Quantizer& asked() const { return *asked_; }
    std::uint64_t blocks_asked() const { return blocks_asked_; }
    const std::vector<Number>& numbers() const { return numbers_; }

    // Which numbers of the tensor the device takes: given ones, or none, or both.
    Status find_numbers();
    // Does it take a tensor of zeros like this one?
    Status takes(const Case& c);
    Expected<Reply> ask(Probe probe);
    // Appended to `probes`; the borders of the family are those of `row`.
    void draw(const Quantizer& row, const Draw& draw, std::vector<Probe>& probes);
    Case plain_case() const;
    // Of that many blocks, or of as many as can be asked in a reasonable time.
    std::size_t lanes_in(std::size_t blocks) const {
        constexpr std::size_t most = std::size_t{1} << 17;
        return std::min(blocks * static_cast<std::size_t>(lanes_of(plain_case())), most);
    }

private:
    Client client_;
    const Setting& setting_;
    const Quantizer* asked_;
    const BlockFormat* format_;
    Sources sources_;
    std::vector<Number> numbers_;
    std::uint64_t blocks_asked_ = 0;
};

// Some blocks one below the other; of a format whose block is the tensor, a small one.
Case Asking::plain_case() const {
    Case c;
    c.operation = OperationKind::quantize;
    c.format = format_;
    c.dialect = asked_;
    c.type = setting_.input;
    c.block = format_->block_columns;
    c.axis = format_->is_whole_tensor() ? BlockAxis::tensor
             : format_->block_rows > 1  ? BlockAxis::tile
                                        : BlockAxis::row;
    constexpr int lanes_wanted = 1024;
    const int lanes = format_->block_rows * format_->block_columns;
    const int blocks = lanes == 0 ? 1 : std::max(1, lanes_wanted / lanes);
    c.rows = lanes == 0 ? 4 : blocks * format_->block_rows;
    c.columns = lanes == 0 ? 32 : format_->block_columns;
    return c;
}

Status Asking::takes(const Case& c) {
    std::vector<CodeTensor> inputs;
    for (const mx::Part part : inputs_of(c)) inputs.push_back(make_tensor(shape_of(c, part)));
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(c, inputs, storage);
    const auto outputs = outputs_of(client_.ask(question), question);
    return outputs ? success() : Status(outputs.error());
}

Status Asking::find_numbers() {
    Case c = plain_case();
    const bool has_number = has_tensor_number(c);
    Status derived = takes_history(*asked_) ? Status(bad_input("")) : takes(c);
    if (!derived && derived.error().kind != ErrorKind::bad_input) return derived;
    if (derived) numbers_.push_back(std::nullopt);
    if (!has_number) return derived;
    c.tensor_number = tensor_numbers[0];
    const Status given = takes(c);
    if (given)
        numbers_.insert(numbers_.end(), std::begin(tensor_numbers), std::end(tensor_numbers));
    return numbers_.empty() || (!given && given.error().kind != ErrorKind::bad_input) ? given
                                                                                      : success();
}

Expected<Reply> Asking::ask(Probe probe) {
    std::vector<std::vector<std::byte>> storage;
    const Question question = make_question(probe.c, probe.inputs, storage);
    auto outputs = outputs_of(client_.ask(question), question);
    if (!outputs) return outputs.error();
    Reply reply{std::move(probe), {}};
    const std::vector<mx::Part> parts = outputs_of(reply.probe.c);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        reply.outputs.push_back(make_tensor(shape_of(reply.probe.c, parts[i])));
        reply.outputs.back().bytes = std::move(outputs.value()[i].bytes);
    }
    join_nans(reply.outputs);
    blocks_asked_ += static_cast<std::uint64_t>(block_grid(reply.probe.c).count());
    return reply;
}

void Asking::draw(const Quantizer& row, const Draw& draw, std::vector<Probe>& probes) {
    Case c = plain_case();
    // Of large blocks a list of every amax in every lane is long; edge.scale has its borders.
    if (draw.family == "edge.amax" && lanes_of(c) > 32) return;
    c.data = draw.family;
    c.seed = draw.seed;
    c.tensor_number = draw.number;
    const auto lanes = static_cast<std::size_t>(element_count(c));
    const auto blocks = static_cast<std::uint64_t>(block_grid(c).count());
    Case of_row = c;
    of_row.dialect = &row;
    const auto source = sources_.open(of_row);
    MX_ASSERT(source.ok());
    const std::uint64_t size = source.value()->size();
    std::uint64_t tensors = std::max<std::uint64_t>(1, draw.lanes / lanes);
    if (size > 0) tensors = std::min(tensors, (size + blocks - 1) / blocks);
    for (std::uint64_t i = 0; i < tensors; ++i) {
        c.index = draw.offset + (size > 0 ? i * size / tensors : i * blocks);
        probes.push_back({c, make_inputs(c, *source.value())});
    }
}

class RowSearch {
public:
    RowSearch(Client client, const Setting& setting)
        : asking_(std::move(client), setting),
          setting_(setting),
          rows_(rows_beside(setting, asking_.asked())),
          alive_(rows_) {}

    Status narrow();
    Status predict_unlearnt();
    Status ask_layouts();
    Identification take();

private:
    std::vector<Probe> pool();
    Status ask(Probe probe);
    void score();
    const Quantizer& best() const { return *rows_[best_]; }

    Asking asking_;
    const Setting& setting_;
    std::vector<const Quantizer*> rows_, alive_;
    std::vector<Reply> replies_;
    std::vector<Score> scores_;  // of rows_
    std::size_t best_ = 0;
    Identification result_;
};

// Borders of every row, and data that no row has borders in.
std::vector<Probe> RowSearch::pool() {
    const std::size_t lanes = asking_.lanes_in(512);
    std::vector<Probe> probes;
    std::size_t given = 0;
    for (const Number& number : asking_.numbers()) {
        const bool is_ordinary = !number || given++ < ordinary_numbers;
        for (const Quantizer* row : rows_)
            for (const char* family : {"edge.tie", "edge.scale"})
                if (is_ordinary) asking_.draw(*row, {family, number, lanes}, probes);
        for (const char* family :
             {"edge.amax", "edge.special", "edge.mixed", "random.spread", "random.subnormal"})
            asking_.draw(asking_.asked(), {family, number, is_ordinary ? lanes : lanes / 4},
                         probes);
    }
    return probes;
}

Status RowSearch::ask(Probe probe) {
    auto reply = asking_.ask(std::move(probe));
    if (!reply) return reply.error();
    replies_.push_back(std::move(reply).value());
    return success();
}

// The probe that cuts the rows into the most groups is asked, and those that predicted something
// else are dropped, until none cuts them. An answer that no row predicts drops none.
Status RowSearch::narrow() {
    if (const Status numbers = asking_.find_numbers(); !numbers) return numbers;
    std::vector<Probe> probes = pool();
    std::vector<std::vector<std::uint64_t>> predictions;  // of each probe, by alive_
    for (const Probe& probe : probes) {
        predictions.emplace_back();
        for (const Quantizer* row : alive_)
            predictions.back().push_back(folded(predicted(*row, probe)));
    }
    constexpr int unexplained_max = 8;
    for (int unexplained = 0; alive_.size() > 1 && unexplained < unexplained_max;) {
        std::size_t chosen = 0, most = 1;
        for (std::size_t i = 0; i < predictions.size(); ++i) {
            const std::set<std::uint64_t> groups(predictions[i].begin(), predictions[i].end());
            if (groups.size() > most) most = groups.size(), chosen = i;
        }
        if (most == 1) break;
        if (const Status asked = ask(probes[chosen]); !asked) return asked;
        const std::uint64_t actual = folded(replies_.back().outputs);
        std::vector<bool> stays;
        for (const std::uint64_t prediction : predictions[chosen])
            stays.push_back(prediction == actual);
        predictions[chosen].clear();
        if (std::ranges::find(stays, true) == stays.end()) {
            ++unexplained;
            continue;
        }
        const auto drop = [&stays](auto& list) {
            std::size_t at = 0;
            std::erase_if(list, [&](const auto&) { return !stays[at++]; });
        };
        drop(alive_);
        for (auto& list : predictions)
            if (!list.empty()) drop(list);
    }
    return success();
}

// Blocks that nothing was learnt from: other ones of every family, with every kind of number.
Status RowSearch::predict_unlearnt() {
    const std::size_t lanes = asking_.lanes_in(256);
    constexpr std::uint64_t offset = 3, seed = 1;
    std::vector<Probe> probes;
    std::size_t given = 0;
    for (const Number& number : asking_.numbers()) {
        if (number && given++ > ordinary_numbers) continue;
        for (const char* family :
             {"edge.tie", "edge.scale", "edge.amax", "edge.special", "edge.mixed", "random.spread",
              "random.bits", "random.subnormal"})
            asking_.draw(*alive_.front(), {family, number, lanes, offset, seed}, probes);
    }
    for (Probe& probe : probes)
        if (const Status asked = ask(std::move(probe)); !asked) return asked;
    return success();
}

void RowSearch::score() {
    for (const Reply& reply : replies_) result_.answers += answers_in(reply.probe.c);
    for (const Quantizer* row : rows_) {
        scores_.emplace_back();
        for (const Reply& reply : replies_) Comparison(*row, reply).add_to(scores_.back());
        if (scores_.back().predicted > scores_[best_].predicted) best_ = scores_.size() - 1;
    }
    alive_.clear();
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (scores_[i].predicted == result_.answers) alive_.push_back(rows_[i]);
}

// What a device makes of a block that the edge of the tensor cuts, and where it puts its scales.
Status RowSearch::ask_layouts() {
    score();
    Case c = asking_.plain_case();
    c.tensor_number = asking_.numbers().back();
    for (const ScaleStorage scales : {ScaleStorage::tiles_128x4, ScaleStorage::tiles_8x4,
                                      ScaleStorage::tiles_32x8, ScaleStorage::te_padded}) {
        Case other = c;
        other.scales = scales;
        if (check_combination(other) && asking_.takes(other))
            result_.scale_layouts.emplace_back(scale_layout_for(scales, c.axis)->name);
    }
    if (c.axis == BlockAxis::tensor) {
        result_.partial_block = "there is none: the tensor is the block";
        return success();
    }
    c.rows = c.axis == BlockAxis::tile ? 5 : 1;
    c.columns = c.block * 5 / 8;
    const std::string lanes = "a block of " + std::to_string(c.rows * c.columns) + " lanes";
    Case of_best = c;
    of_best.dialect = &best();
    for (const Case& one : {c, of_best})
        if (const Status fits = check_combination(one); !fits) {
            result_.partial_block = "not asked: " + fits.error().message;
            return success();
        }
    if (!asking_.takes(c)) {
        result_.partial_block = lanes + " is not supported";
        return success();
    }
    c.data = "random.spread";
    Sources sources;
    const auto reply = asking_.ask({c, make_inputs(c, *sources.open(c).value())});
    if (!reply) return reply.error();
    Score score;
    Comparison(best(), reply.value()).add_to(score);
    result_.partial_block =
        lanes + (score.miss ? " is not quantized as its lanes alone would be: " + score.miss->text
                            : " is quantized from the lanes that exist");
    return success();
}

Identification RowSearch::take() {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        result_.rows.push_back({std::string(rows_[i]->name), scores_[i].predicted,
                                scores_[i].miss ? scores_[i].miss->text : ""});
    for (const Quantizer* row : alive_) result_.identical.emplace_back(row->name);
    result_.nearest = best().name;
    result_.nearest_predicted = scores_[best_].predicted;
    result_.unexplained.of = result_.answers;
    result_.unexplained.blocks = result_.answers - scores_[best_].predicted;
    if (scores_[best_].miss) result_.unexplained.witness = scores_[best_].miss->text;
    result_.setting = setting_;
    result_.blocks_asked = asking_.blocks_asked();
    return std::move(result_);
}

}  // namespace

std::vector<const Quantizer*> rows_beside(const Setting& setting, const Quantizer& asked) {
    std::vector<const Quantizer*> rows;
    const auto has_number = [](const Quantizer& row) {
        return row.tensor_scale != TensorScale::none;
    };
    const bool has_words = asked.element_rounding == Rounding::stochastic;
    for (const Quantizer& row : real_scale_quantizers)
        if (row.quantizes(setting.format) && row.reads(setting.input.name) &&
            has_number(row) == has_number(asked) && takes_history(row) == takes_history(asked) &&
            (has_words || row.element_rounding != Rounding::stochastic))
            rows.push_back(&row);
    return rows;
}

Expected<Identification> identify_row(Client client, const Setting& setting) {
    RowSearch search(std::move(client), setting);
    for (const auto step :
         {&RowSearch::narrow, &RowSearch::predict_unlearnt, &RowSearch::ask_layouts})
        if (const Status done = (search.*step)(); !done) return done.error();
    return search.take();
}

}  // namespace mx::identify
