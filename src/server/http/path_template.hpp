#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/route.hpp"

namespace agw {

/// A route's path in OpenAPI's notation: `/threads/:id/turns` becomes `/threads/{id}/turns`, `*` becomes `{rest}`,
/// `*id` becomes `{id}`.
struct PathTemplate {
  std::string path;
  std::vector<std::string> names;  ///< of the parameters in braces
};
PathTemplate path_template(std::string_view path);

/// The tag that groups the route in the documents: the first segment of its path, `threads`.
std::string tag_of(const Route& route);

/// The method in lower case: `get` … `delete`.
std::string lower_case_name(Method method);

}  // namespace agw
