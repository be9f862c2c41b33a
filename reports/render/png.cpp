// See png.hpp. The pixels are stored as they are: deflate allows it, and 64 KB need no more.
#include "reports/render/png.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace mx::reports {
namespace {

void add_u32(std::string& bytes, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes.push_back(static_cast<char>(number >> shift & 0xFF));
}

// CRC-32 of PNG, annex D of its specification.
std::uint32_t checksum(std::string_view bytes) {
    constexpr std::uint32_t polynomial = 0xEDB88320;
    std::uint32_t crc = 0xFFFFFFFF;
    for (const char byte : bytes) {
        crc ^= static_cast<std::uint8_t>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? polynomial : 0);
    }
    return ~crc;
}

// Adler-32 of zlib, RFC 1950.
std::uint32_t adler(std::string_view bytes) {
    constexpr std::uint32_t modulus = 65521;
    std::uint32_t low = 1, high = 0;
    for (const char byte : bytes) {
        low = (low + static_cast<std::uint8_t>(byte)) % modulus;
        high = (high + low) % modulus;
    }
    return high << 16 | low;
}

// RFC 1950 and 1951: blocks that are stored, each with its length and the complement of that.
std::string stored(std::string_view bytes) {
    constexpr std::size_t block_max = 65535;
    std::string stream("\x78\x01");
    for (std::size_t at = 0; at == 0 || at < bytes.size(); at += block_max) {
        const std::string_view block = bytes.substr(at, block_max);
        const auto size = static_cast<std::uint32_t>(block.size());
        stream.push_back(at + block_max >= bytes.size() ? '\1' : '\0');
        for (const std::uint32_t number : {size, ~size}) {
            stream.push_back(static_cast<char>(number & 0xFF));
            stream.push_back(static_cast<char>(number >> 8 & 0xFF));
        }
        stream.append(block);
    }
    add_u32(stream, adler(bytes));
    return stream;
}

void add_chunk(std::string& file, std::string_view kind, std::string_view data) {
    add_u32(file, static_cast<std::uint32_t>(data.size()));
    const std::string body = std::string(kind).append(data);
    file.append(body);
    add_u32(file, checksum(body));
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i)
            group = group << 8 | (i < count ? static_cast<std::uint8_t>(bytes[at + i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text.push_back(i <= count ? letters[group >> (18 - 6 * i) & 63] : '=');
    }
    return text;
}

}  // namespace

std::string png_of(const Picture& picture) {
    constexpr std::string_view eight_bits_of_palette("\x08\x03\x00\x00\x00", 5);
    std::string header, palette(3, '\0'), rows;
    add_u32(header, picture.width);
    add_u32(header, picture.height);
    header.append(eight_bits_of_palette);
    for (const Colour& colour : picture.palette)
        for (const std::uint8_t part : {colour.red, colour.green, colour.blue})
            palette.push_back(static_cast<char>(part));
    for (std::size_t at = 0; at < picture.pixels.size(); at += picture.width) {
        rows.push_back('\0');  // no filter
        for (std::size_t column = 0; column < picture.width; ++column)
            rows.push_back(static_cast<char>(picture.pixels[at + column]));
    }
    std::string file("\x89PNG\r\n\x1a\n");
    add_chunk(file, "IHDR", header);
    add_chunk(file, "PLTE", palette);
    add_chunk(file, "tRNS", std::string_view("\0", 1));
    add_chunk(file, "IDAT", stored(rows));
    add_chunk(file, "IEND", "");
    return file;
}

std::string data_address(const Picture& picture) {
    return "data:image/png;base64," + base64(png_of(picture));
}

}  // namespace mx::reports
