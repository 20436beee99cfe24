#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/route.hpp"

namespace agw {

/// A route's path as documents write it: `/threads/:id/turns` as `/threads/{id}/turns`, a last `*` as `{rest}`.
struct PathTemplate {
  std::string path;
  std::vector<std::string> names;  ///< of what stands in braces
};
PathTemplate path_template(std::string_view path);

/// The route's first segment, `threads`: what documents group it by.
std::string room_of(const Route& route);

/// `get` … `delete`
std::string lower_case_name(Method method);

}  // namespace agw
