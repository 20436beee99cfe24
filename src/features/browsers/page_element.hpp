#pragma once

#include <string>

#include "base/json/json.hpp"

namespace agw {

/// A JavaScript expression for `Browser::evaluate`: what `inspected_message` reads of the element at that place of the
/// view, in CSS pixels; null if there is none. Of a frame or a shadow root, it is the element that holds it.
std::string element_at(double x, double y);

/// What a client learns about the element. `found` comes from a page, so it may be anything. Throws NotFound.
/// Example: src/features/browsers/page_element_test.cpp: PageElement.IsShortened
json::object inspected_message(const json::value& found);

}  // namespace agw
