#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "features/integrations/types.hpp"
#include "io/http/web_url.hpp"

namespace agw {

/// The part of a request that carries a parameter.
enum class ParameterPlace { path, query, header };

/// A parameter of an operation, with the document's name for it.
struct OperationParameter {
  std::string name;
  ParameterPlace place{};
};

/// One operation of an OpenAPI document, as a tool.
struct ApiOperation {
  OfferedTool tool;
  std::string method;
  std::string path;  ///< with `{name}` for path parameters
  std::vector<OperationParameter> parameters;
  std::string body_type;  ///< media type of the input's `body`; empty if there is none
};

/// The operations of a service.
struct ApiDescription {
  WebUrl server;
  std::vector<ApiOperation> operations;
  std::size_t left_out = 0;  ///< number of operations beyond the limit
};

/// Why a document does not describe any callable operation, human-readable.
struct ApiProblem {
  std::string text;
};

/// Reads an OpenAPI 3 document, JSON or YAML. Documents are untrusted: the number of operations, the size of schemas
/// and the depth of references are limited. Blocks.
std::variant<ApiDescription, ApiProblem> read_openapi(std::string_view text, const WebUrl& url);

}  // namespace agw
