#pragma once

#include <filesystem>
#include <string>

namespace agw::cli {

/// Writes a page that redirects to `link`, readable only by the user. It is a file and not an argument of the browser
/// because all users of the host can see the arguments of programs. Throws std::system_error.
void write_link(const std::filesystem::path& file, const std::string& link, const std::string& about);

/// Opens the page in a browser ($BROWSER, otherwise the desktop's); false if there is none.
bool open_in_browser(const std::filesystem::path& file);

}  // namespace agw::cli
