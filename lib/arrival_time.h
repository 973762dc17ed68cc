#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pw {

// An arrival as traces write it, in nanoseconds: a number of units of `unit_ns` ("27482", "0.052"),
// or a date with a time, "2023-11-16 18:15:46.6805900" or "2024-05-10T00:00:00.009930+00:00",
// counted from 1970 in UTC (no zone: UTC). Nothing for any other text.
std::optional<std::int64_t> parse_arrival_ns(std::string_view text, std::int64_t unit_ns);

}  // namespace pw
