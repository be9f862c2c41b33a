// A strided matrix in host memory as the operations of this device see it: bytes in, bytes out.
// Knows nothing of what the bytes mean.
#pragma once

#include <cstdint>
#include <cstring>

namespace mx::nvhost {

struct Cell {
    std::int64_t row;
    std::int64_t column;
};

struct Tensor {
    unsigned char* data = nullptr;
    std::size_t width = 1;
    std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 0;

    unsigned char* at(Cell cell) const {
        return data + (cell.row * row_stride + cell.column * column_stride) *
                          static_cast<std::int64_t>(width);
    }
    // memcpy, because nobody promised that the elements are aligned.
    std::uint32_t read(Cell cell) const {
        if (width == 1) return *at(cell);
        std::uint16_t half = 0;
        std::uint32_t word = 0;
        if (width == 2) {
            std::memcpy(&half, at(cell), sizeof(half));
            return half;
        }
        std::memcpy(&word, at(cell), sizeof(word));
        return word;
    }
    void write(Cell cell, std::uint32_t bits) const {
        const auto byte = static_cast<std::uint8_t>(bits);
        const auto half = static_cast<std::uint16_t>(bits);
        if (width == 1) *at(cell) = byte;
        if (width == 2) std::memcpy(at(cell), &half, sizeof(half));
        if (width == 4) std::memcpy(at(cell), &bits, sizeof(bits));
    }
};

template <typename Action>
void for_each_cell(const Tensor& tensor, Action&& action) {
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        for (std::int64_t column = 0; column < tensor.columns; ++column) action(Cell{row, column});
}

}  // namespace mx::nvhost
