// A chart as inline SVG, with its numbers in a table beside it for those who cannot see it. Used by
// the sections of the HTML page. Must not know what it shows.
#pragma once

#include <string>
#include <vector>

namespace mx::reports {

enum class Scaling { linear, log2, log10 };

// "0.125", "1.5e-07"
std::string short_number(double value);
// "64 KiB", "1 GiB"
std::string bytes_number(double value);

struct Axis {
    std::string label;
    Scaling scaling = Scaling::linear;
    std::string (*number)(double) = short_number;
    double step_min = 0;  // between ticks of a linear axis; 1 where values are whole
};

enum class Mark { line, roof, dots, bars, outline };

struct Point {
    double x = 0, y = 0;
    double low = 0, high = 0;  // of its spread; equal where there is none
};

struct Series {
    std::string name;
    Mark mark = Mark::line;
    std::vector<Point> points;  // from left to right
};

struct Chart {
    std::string id;  // of the page, so that its parts can be named
    std::string title, description;
    Axis x, y;
    std::vector<Series> series;
};

// A whole <figure>; "" where no series has a point that can be drawn.
std::string figure_of(const Chart& chart);

}  // namespace mx::reports
