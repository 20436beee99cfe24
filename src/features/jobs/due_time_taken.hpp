#pragma once

#include <exception>

namespace agw {

/// A due time has its row already: somebody fired it, perhaps before a restart or before the clock was set back.
class DueTimeTaken : public std::exception {
public:
  const char* what() const noexcept override { return "the due time has been taken"; }
};

}  // namespace agw
