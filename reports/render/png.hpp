// A picture of a few colours as a PNG file inside an address, so that a page needs no second file.
// Used by the heat maps. Must not know what it shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mx::reports {

struct Colour {
    std::uint8_t red = 0, green = 0, blue = 0;
    bool operator==(const Colour&) const = default;
};

// A place in the palette for each pixel, row by row; 0 is transparent.
struct Picture {
    std::uint32_t width = 0, height = 0;
    std::vector<std::uint8_t> pixels;
    std::vector<Colour> palette;  // from place 1 on, at most 255
};

std::string png_of(const Picture& picture);

// "data:image/png;base64,..."
std::string data_address(const Picture& picture);

}  // namespace mx::reports
