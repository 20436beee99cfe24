#pragma once

#include "base/described.hpp"
#include "base/json_reading.hpp"

namespace agw {

/// A described record as triggers compare it.
template <DescribedStruct T>
json::object record_of(const T& record) {
  return std::move(parse_stored_json(to_json(record)).as_object());
}

}  // namespace agw
