#pragma once

#include <string>
#include <string_view>

#include "base/json/described.hpp"

namespace agw {

/// Collects described records, which come one by one, into the text of a JSON array.
template <class T>
struct ArrayText {
  std::string text = "[";
  void operator()(const T& record) {
    separate();
    write_json(text, record);
  }
  /// Adds a record whose JSON exists already.
  void add(std::string_view json) {
    separate();
    text += json;
  }
  std::string close() {
    text += ']';
    return std::move(text);
  }

private:
  void separate() {
    if (text.size() > 1) text += ',';
  }
};

}  // namespace agw
