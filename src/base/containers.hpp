#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace agw {

/// Whether an element, or its `projection`, equals `value`: std::ranges::contains of C++23.
template <class Range, class Value, class Projection = std::identity>
bool contains(const Range& range, const Value& value, Projection projection = {}) {
  return std::ranges::find(range, value, std::move(projection)) != std::ranges::end(range);
}

/// Moves the elements of `more` to the end of `list`.
template <class List>
void append(List& list, std::type_identity_t<List> more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace agw
