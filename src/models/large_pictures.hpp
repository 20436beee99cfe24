#pragma once

#include "base/json/json.hpp"

namespace agw {

/// Replaces the pictures of a request to Anthropic that the service refuses for their size by texts that say so. One of
/// them, such as the screenshot of a long page, would make each further request of its conversation fail. Returns false
/// if there are none. https://platform.claude.com/docs/en/build-with-claude/vision#evaluate-image-size
/// Example: src/models/large_pictures_test.cpp: LargePictures.AreReplaced
bool leave_out_large_pictures(json::object& request);

}  // namespace agw
