#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "features/integrations/types.hpp"
#include "io/http/web_url.hpp"

namespace agw {

/// Where a parameter of an operation goes.
enum class ParameterPlace { path, query, header };

/// A parameter of an operation, by the name that the document gives it.
struct OperationParameter {
  std::string name;
  ParameterPlace place{};
};

/// One operation of an OpenAPI document, as a tool.
struct ApiOperation {
  OfferedTool tool;
  std::string method;
  std::string path;  ///< with `{name}`
  std::vector<OperationParameter> parameters;
  std::string body_type;  ///< of `body`; empty where it takes none
};

/// What can be called of a service.
struct ApiDescription {
  WebUrl server;
  std::vector<ApiOperation> operations;
  std::size_t left_out = 0;  ///< operations beyond those that are read
};

/// Why a document describes nothing that can be called, for people.
struct ApiProblem {
  std::string text;
};

/// Reads an OpenAPI 3 document, JSON or YAML. Documents come from strangers: how many operations, how large schemas and
/// how far references are followed is bounded. Blocks.
std::variant<ApiDescription, ApiProblem> read_openapi(std::string_view text, const WebUrl& url);

}  // namespace agw
