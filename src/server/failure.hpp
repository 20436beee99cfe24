#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "api/answer.hpp"

namespace agw {

/// How the log names a request. The views live as long as it is under way.
struct RequestName {
  std::string id;
  std::string_view method;
  std::string_view path;
};

/// What a request is answered with whose handler let `failure` go: an ApiError with its own words, a full disk with
/// 507, a fault of ours with 500. The cause of the last two shows in the log only.
Answer answer_of_failure(const std::exception_ptr& failure, const RequestName& request);

}  // namespace agw
