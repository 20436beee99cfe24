#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output/terminal.hpp"

namespace agw::cli {

/// The modules of a QR code, by row; true is dark.
using QrModules = std::vector<std::vector<bool>>;

/// Encodes `text`; nullopt if libqrencode is not installed or the text is too long.
std::optional<QrModules> qr_modules(const std::string& text);

/// The width of the drawing in columns.
int columns_of(const QrModules& modules);

/// Draws the code with half blocks and the light border that scanners need: light on dark, with explicit colours if
/// `terminal` has them.
std::string draw(const QrModules& modules, const Terminal& terminal);

}  // namespace agw::cli
