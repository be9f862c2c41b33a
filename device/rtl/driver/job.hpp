// What one call wants of a design: tensors of the call as beats of the design, in either order of
// blocks. Knows where the elements of a beat lie, and no bits of any.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/kit/tensor.hpp"
#include "device/rtl/driver/stream.hpp"

namespace mx::rtl {

// Independent things are asked for from the first to the last, or the other way round.
enum class Direction { forward, backward };

struct Job {
    const Mode* mode = nullptr;
    Direction direction = Direction::forward;
    // Blocks lie along rows: of a call along columns these are its tensors transposed.
    kit::Strided values = {}, codes = {}, scales = {};
    // Of a product.
    kit::Strided a = {}, scales_a = {}, b = {}, scales_b = {}, d = {};
    std::int64_t batches = 1;
};

inline kit::Strided transposed(kit::Strided tensor) {
    std::swap(tensor.rows, tensor.columns);
    std::swap(tensor.row_stride, tensor.column_stride);
    return tensor;
}

// Elements [first, first + count) of a row, of which those beyond its end are `pad`.
class RowPiece {
public:
    RowPiece(const kit::Strided& tensor, kit::Cell first, std::int64_t count)
        : tensor_(tensor),
          first_(first),
          count_(count),
          there_(first.row >= tensor.rows
                     ? 0
                     : std::clamp<std::int64_t>(tensor.columns - first.column, 0, count)) {}

    void load(const Slots& to, std::int64_t first_slot = 0, std::uint32_t pad = 0) const {
        if (is_plain(to) && first_slot == 0) {
            std::memcpy(to.data(), tensor_.at(first_), bytes());
            return;
        }
        for (std::int64_t i = 0; i < count_; ++i)
            to.write(first_slot + i, i < there_ ? tensor_.read(cell(i)) : pad);
    }
    void store(const Slots& from, std::int64_t first_slot = 0) const {
        if (is_plain(from) && first_slot == 0) {
            std::memcpy(tensor_.at(first_), from.data(), bytes());
            return;
        }
        for (std::int64_t i = 0; i < there_; ++i) tensor_.write(cell(i), from.read(first_slot + i));
    }

private:
    bool is_plain(const Slots& slots) const {
        return there_ == count_ && tensor_.column_stride == 1 && slots.is_row_of(tensor_.width);
    }
    std::size_t bytes() const { return static_cast<std::size_t>(count_ * tensor_.width); }
    kit::Cell cell(std::int64_t i) const { return {first_.row, first_.column + i}; }

    const kit::Strided& tensor_;
    kit::Cell first_;
    std::int64_t count_, there_;
};

inline std::int64_t divided_up(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
}

class Worker {
public:
    Worker(const Setup& setup, Stream& stream)
        : setup_(setup), stream_(stream), is_back_(setup.operation == "dequantize") {}

    Cycles run(const Job& job) {
        stream_.set(*job.mode);
        const Beats beats = beats_of(job);
        if (beats.out == 0) return {};
        if (is_product()) return product(job, beats);
        return elements(job, beats);
    }

    // As the first beats of the job, of which nobody takes the answer.
    void offer(const Job& job, std::int64_t beats) {
        if (is_product())
            stream_.offer(beats, [&](std::int64_t i) { load_product(job, i); });
        else
            stream_.offer(beats, [&](std::int64_t i) { load_elements(job, i); });
    }

    // See Stream::why_it_changes.
    std::string why_it_changes(const Job& job) {
        const std::int64_t beats = beats_of(job).in;
        if (is_product())
            return stream_.why_it_changes(beats, [&](std::int64_t i) { load_product(job, i); });
        return stream_.why_it_changes(beats, [&](std::int64_t i) { load_elements(job, i); });
    }

    Beats beats_of(const Job& job) const {
        if (is_product()) {
            const std::int64_t tiles = tile_grid(job).rows * tile_grid(job).columns * job.batches;
            return {tiles * depth(job), tiles};
        }
        const kit::Strided& shape = elements_of(job);
        const std::int64_t beats =
            shape.rows * divided_up(shape.columns, piece()) * (piece() / setup_.elements);
        return {beats, beats};
    }

private:
    bool is_product() const { return setup_.operation == "dot" || setup_.operation == "gemm"; }
    // What stays together in either direction: a block, and of a conversion a beat.
    std::int64_t piece() const { return piece_; }
    const kit::Strided& elements_of(const Job& job) const {
        return is_back_ ? job.codes : job.values;
    }

    struct Place {
        kit::Cell block, first;
        bool is_last;
    };
    Place place_of(const Job& job, std::int64_t beat) const {
        const kit::Strided& shape = elements_of(job);
        const std::int64_t beats = piece() / setup_.elements;
        const std::int64_t across = divided_up(shape.columns, piece());
        std::int64_t block = beat / beats;
        if (job.direction == Direction::backward) block = shape.rows * across - 1 - block;
        const kit::Cell at{block / across, block % across};
        const std::int64_t part = beat % beats;
        return {at, {at.row, at.column * piece() + part * setup_.elements}, part == beats - 1};
    }

    void load_elements(const Job& job, std::int64_t beat) {
        const Place place = place_of(job, beat);
        RowPiece(elements_of(job), place.first, setup_.elements).load(is_back_ ? codes_ : values_);
        if (is_back_) scales_.write(0, job.scales.read(place.block));
    }
    void store_elements(const Job& job, std::int64_t beat) {
        const Place place = place_of(job, beat);
        RowPiece(is_back_ ? job.values : job.codes, place.first, setup_.elements)
            .store(is_back_ ? values_ : codes_);
        if (has_scales_ && place.is_last) job.scales.write(place.block, scales_.read(0));
    }
    Cycles elements(const Job& job, Beats beats) {
        return stream_.pass(
            beats, [&](std::int64_t i) { load_elements(job, i); },
            [&](std::int64_t i) { store_elements(job, i); });
    }

    // Blocks along K, and tiles of one batch of D.
    std::int64_t depth(const Job& job) const { return divided_up(job.a.columns, setup_.block); }
    kit::Shape tile_grid(const Job& job) const {
        return {divided_up(job.d.rows / job.batches, setup_.rows),
                divided_up(job.d.columns, setup_.columns)};
    }
    // The first row of a tile in A and D, and in B, whose rows are the columns of D.
    struct Tile {
        std::int64_t row, rows_end, column, b_row, b_rows_end;
    };
    Tile tile_of(const Job& job, std::int64_t index) const {
        const kit::Shape grid = tile_grid(job);
        const std::int64_t tiles = grid.rows * grid.columns;
        if (job.direction == Direction::backward) index = tiles * job.batches - 1 - index;
        const std::int64_t batch = index / tiles, tile = index % tiles;
        const std::int64_t rows = job.d.rows / job.batches;
        const std::int64_t column = tile % grid.columns * setup_.columns;
        return {batch * rows + tile / grid.columns * setup_.rows, (batch + 1) * rows, column,
                batch * job.d.columns + column, (batch + 1) * job.d.columns};
    }

    struct Side {
        const kit::Strided& codes;
        const kit::Strided& scales;
        Slots code_slots, scale_slots;
    };
    void load_side(const Side& side, std::int64_t first, std::int64_t count, std::int64_t end,
                   std::int64_t k_block) {
        constexpr std::uint32_t scale_one = 127;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t row = first + i < end ? first + i : side.codes.rows;
            RowPiece(side.codes, {row, k_block * setup_.block}, setup_.block)
                .load(side.code_slots, i * setup_.block);
            RowPiece(side.scales, {row, k_block}, 1).load(side.scale_slots, i, scale_one);
        }
    }
    void load_product(const Job& job, std::int64_t beat) {
        const std::int64_t k_block = beat % depth(job);
        const Tile tile = tile_of(job, beat / depth(job));
        load_side({job.a, job.scales_a, a_, scale_a_}, tile.row, setup_.rows, tile.rows_end,
                  k_block);
        load_side({job.b, job.scales_b, b_, scale_b_}, tile.b_row, setup_.columns, tile.b_rows_end,
                  k_block);
        if (last_.exists()) last_.write(0, k_block == depth(job) - 1 ? 1 : 0);
    }
    void store_product(const Job& job, std::int64_t index) {
        const Tile tile = tile_of(job, index);
        for (std::int64_t i = 0; i < setup_.rows && tile.row + i < tile.rows_end; ++i)
            RowPiece(job.d, {tile.row + i, tile.column}, setup_.columns)
                .store(d_, i * setup_.columns);
    }
    Cycles product(const Job& job, Beats beats) {
        return stream_.pass(
            beats, [&](std::int64_t i) { load_product(job, i); },
            [&](std::int64_t i) { store_product(job, i); });
    }

    const Setup& setup_;
    Stream& stream_;
    // Of the operation, which is a text.
    bool is_back_, has_scales_ = setup_.operation == "quantize";
    std::int64_t piece_ = setup_.operation == "convert" ? setup_.elements : setup_.block;
    Slots values_ = stream_.slots("values", setup_.elements);
    Slots codes_ = stream_.slots("codes", setup_.elements);
    Slots scales_ = stream_.slots("scales", 1);
    Slots a_ = stream_.slots("a", setup_.rows* setup_.block);
    Slots b_ = stream_.slots("b", setup_.columns* setup_.block);
    Slots scale_a_ = stream_.slots("scales_a", setup_.rows);
    Slots scale_b_ = stream_.slots("scales_b", setup_.columns);
    Slots d_ = stream_.slots("d", setup_.rows* setup_.columns);
    Slots last_ = stream_.slots("last", 1);
};

}  // namespace mx::rtl
