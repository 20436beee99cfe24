#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.hpp"

namespace agw::cli {

/// The modules of a QR code by rows: true for a dark one.
using QrModules = std::vector<std::vector<bool>>;

/// Encodes `text`; nothing where libqrencode is not installed or the text is too long for it.
std::optional<QrModules> qr_modules(const std::string& text);

/// How many columns it takes when it is drawn.
int columns_of(const QrModules& modules);

/// As lines of half blocks with the light border that scanners need: light on dark, said in so many words where
/// `terminal` has colours.
std::string draw(const QrModules& modules, const Terminal& terminal);

}  // namespace agw::cli
