#pragma once

#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// The user agent of an ordinary Chromium with this major version.
std::string ordinary_user_agent(std::string_view major);

/// The parameters of DevTools' `Emulation.setUserAgentOverride` that make a headless Chromium name itself as an
/// ordinary one of the same version does. `product`: as in `Browser.getVersion`, such as
/// `HeadlessChrome/156.0.8078.108`. Empty if it has no version.
/// Example: src/features/browsers/identity_test.cpp: BrowserIdentity.IsThatOfAnOrdinaryChromium
json::object ordinary_identity(std::string_view product);

}  // namespace agw
