#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace agw {

/// The limits of browsers.
struct BrowserLimits {
  std::size_t count = 4;                        ///< simultaneous browsers
  std::chrono::milliseconds idle{30 * 60'000};  ///< without a client and without use by an agent
  std::chrono::milliseconds lifetime{24 * 60 * 60'000};
  int processes = 2000;                            ///< and threads
  std::chrono::milliseconds start{30'000};         ///< until the first tab is open
  std::chrono::milliseconds closing_grace{3'000};  ///< to write cookies and the like, before it is killed
};

/// Why a browser has ended.
enum class BrowserEnd { closed, crashed, idle, lifetime, deleted, disk, processes, stopped };
std::string_view to_text(BrowserEnd end);

/// The size of a browser's view, in CSS pixels.
struct ViewSize {
  int width = 1280;
  int height = 800;
  bool operator==(const ViewSize&) const = default;
};

/// A tab of a browser.
struct BrowserTab {
  std::string id;
  std::string title;
  std::string url;
  bool is_loading = false;
};

/// A question with which a site blocks its tab until somebody answers.
struct BrowserDialog {
  std::string kind;  ///< `alert`, `confirm`, `prompt`, `beforeunload`
  std::string message;
  std::string default_text;  ///< of a prompt
};

}  // namespace agw
