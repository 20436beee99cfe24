#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "models/settings.hpp"
#include "models/wire_format.hpp"

namespace agw {

/// Google's Gemini API (`generateContent`), streamed. The signatures of thoughts come with the reply and are sent back
/// with the part that they belong to.
std::unique_ptr<WireFormat> gemini_format(ProviderSettings settings);

/// The version to put behind the address of a Gemini service: `/v1beta`, or nothing where the address has one.
std::string gemini_version(std::string_view base_url);

}  // namespace agw
