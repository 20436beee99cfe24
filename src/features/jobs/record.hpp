#pragma once

#include "base/described.hpp"

namespace agw {

/// A described record as triggers compare it.
template <DescribedStruct T>
json::object record_of(const T& record) {
  return parse_json(to_json(record)).value().as_object();
}

}  // namespace agw
