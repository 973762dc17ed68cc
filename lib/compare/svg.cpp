#include "compare/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "io/json_file.h"

namespace pw {
namespace {

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + svg_number(value) + "\"";
}

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : " " + std::string(name) + "=\"" + escape_html(value) + "\"";
}

std::string with_tooltip(const std::string& name, const std::string& attributes,
                         std::string_view tooltip) {
  return "<" + name + attributes + "><title>" + escape_html(tooltip) + "</title></" + name + ">\n";
}

// The smallest of 1, 2, 5, 10 times a power of ten that is at least `value`.
double round_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (value <= factor * power * (1 + 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string svg_number(double value) {
  std::string text = python_repr(round_decimals(value, 2));
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text;
}

double Axis::at(double value) const {
  const double share =
      logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> ticks;
  if (!logarithmic) {
    const double step = round_up((high - low) / 6);
    for (int i = 0; low + i * step <= high * (1 + 1e-9); ++i) ticks.push_back(low + i * step);
    return ticks;
  }
  const bool many = high / low > 200;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * power;
      if (tick >= low && tick <= high && (factor == 1 || !many)) ticks.push_back(tick);
    }
  }
  return ticks;
}

Axis linear_axis(double most, double from, double to) {
  const double reached = std::max(most, 1e-6);  // an axis needs a length
  const double step = round_up(reached / 6);
  return {0, step * std::ceil(reached / step * (1 - 1e-9)), from, to, false};
}

Axis log_axis(const std::vector<double>& values, double from, double to) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  constexpr double kRoom = 1.25;
  return {*least / kRoom, *most * kRoom, from, to, true};
}

std::string tick_label(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, value < 1e6 ? "%.10g" : "%g", value);
  std::string text = buffer;
  if (value >= 10000 && value < 1e6) text.insert(text.size() - 3, " ");
  return text;
}

std::string svg_image(double width, double height, const std::string& title,
                      const std::string& description, const std::string& content) {
  return "<svg role=\"img\" viewBox=\"0 0 " + svg_number(width) + " " + svg_number(height) +
         "\" xmlns=\"http://www.w3.org/2000/svg\"><title>" + escape_html(title) + "</title><desc>" +
         escape_html(description) + "</desc>\n" + content + "</svg>\n";
}

std::string svg_text(double x, double y, Anchor anchor, std::string_view text,
                     std::string_view css_class) {
  const char* where = anchor == Anchor::start ? "" : anchor == Anchor::middle ? "middle" : "end";
  return "<text" + attribute("x", x) + attribute("y", y) + attribute("text-anchor", where) +
         attribute("class", css_class) + ">" + escape_html(text) + "</text>\n";
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return "<line" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
         attribute("y2", y2) + attribute("class", css_class) + "/>\n";
}

std::string svg_rectangle(double x, double y, double width, double height, std::string_view fill,
                          std::string_view tooltip) {
  return with_tooltip("rect",
                      attribute("x", x) + attribute("y", y) + attribute("width", width) +
                          attribute("height", height) + attribute("fill", fill),
                      tooltip);
}

std::string svg_marker(Marker marker, double x, double y, double radius, std::string_view fill,
                       std::string_view tooltip) {
  if (marker == Marker::circle) {
    return with_tooltip(
        "circle",
        attribute("cx", x) + attribute("cy", y) + attribute("r", radius) + attribute("fill", fill),
        tooltip);
  }
  constexpr double kHalfSide = 0.7071;  // of the square in a circle of radius 1
  std::vector<std::pair<double, double>> corners;
  switch (marker) {
    case Marker::circle:
    case Marker::square:
      corners = {{-kHalfSide, -kHalfSide},
                 {kHalfSide, -kHalfSide},
                 {kHalfSide, kHalfSide},
                 {-kHalfSide, kHalfSide}};
      break;
    case Marker::diamond:
      corners = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
      break;
    case Marker::triangle:
      corners = {{0, -1}, {0.87, 0.5}, {-0.87, 0.5}};
      break;
  }
  std::string points;
  for (const auto& [dx, dy] : corners) {
    points += (points.empty() ? "" : " ") + svg_number(x + radius * dx) + "," +
              svg_number(y + radius * dy);
  }
  return with_tooltip("polygon", attribute("points", points) + attribute("fill", fill), tooltip);
}

}  // namespace pw
