#pragma once

#include <filesystem>
#include <string>

namespace agw::cli {

/// Writes a page that leads on to `link`, for nobody but the user. A file and not an argument of the browser, because
/// every user of the host sees the arguments of programs. Throws std::system_error.
void write_link(const std::filesystem::path& file, const std::string& link, const std::string& about);

/// Whether a browser ($BROWSER, else the desktop's) took the page.
bool show_in_browser(const std::filesystem::path& file);

}  // namespace agw::cli
