#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pw {

// The text with the characters that mean something in HTML and SVG replaced.
std::string escape_html(std::string_view text);

// A coordinate with at most two decimals: "12.5".
std::string svg_number(double value);

// A value axis from pixel `from` (value `low`) to pixel `to` (value `high`).
struct Axis {
  double low = 0, high = 1;
  double from = 0, to = 1;
  bool logarithmic = false;

  double at(double value) const;
  // Round values inside the axis: 1, 2, 5 or powers of ten.
  std::vector<double> ticks() const;
};
// From 0 to at least `most`, ending at a round value.
Axis linear_axis(double most, double from, double to);
// Around all of `values` (above 0), with some room.
Axis log_axis(const std::vector<double>& values, double from, double to);

// "1 500" and "0.05": how ticks are labelled.
std::string tick_label(double value);

// An SVG image that scales to the width of the page. Title and description are what a screen reader
// says.
std::string svg_image(double width, double height, const std::string& title,
                      const std::string& description, const std::string& content);

enum class Anchor { start, middle, end };
std::string svg_text(double x, double y, Anchor anchor, std::string_view text,
                     std::string_view css_class = "");
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class);
// `tooltip` appears when the pointer rests on the shape.
std::string svg_rectangle(double x, double y, double width, double height, std::string_view fill,
                          std::string_view tooltip);
enum class Marker { circle, square, diamond, triangle };
// Around (x, y), `radius` to its rim or corners.
std::string svg_marker(Marker marker, double x, double y, double radius, std::string_view fill,
                       std::string_view tooltip);

}  // namespace pw
