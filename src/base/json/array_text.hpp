#pragma once

#include <string>

#include "base/json/described.hpp"

namespace agw {

/// Collects described records, which come one by one, into the text of a JSON array.
template <class T>
struct ArrayText {
  std::string text = "[";
  void operator()(const T& record) {
    if (text.size() > 1) text += ',';
    write_json(text, record);
  }
  std::string close() {
    text += ']';
    return std::move(text);
  }
};

}  // namespace agw
