#pragma once

#include <map>
#include <memory>
#include <string>

#include "features/cluster/types.hpp"
#include "tools/tool.hpp"

namespace agw {

class Integrations;
class NodeBus;

/// Tool calls to MCP servers that other nodes run, and calls of other nodes to servers here. If a server asks the
/// person a question during a call, the question is sent back to the calling node.
///
/// It needs nodes: tests/cluster/test_stdio_servers.py shows the use.
class PassedCalls {
public:
  /// `node` is the name of this node.
  PassedCalls(Loop& loop, Integrations& integrations, std::string node)
      : loop_(loop), integrations_(integrations), node_(std::move(node)) {}
  ~PassedCalls();

  /// Without this, calls fail. `bus` must outlive this object.
  void use(NodeBus& bus);

  /// Calls a tool of the integration with that id at the node. Failures become error results.
  Task<ToolOutcome> call(std::string node, std::string integration, std::string tool, const ToolCall& call);

  /// Whether the request is a call or a question. Clients cannot send these: no route has their methods.
  static bool handles(const PassedRequest& request);
  Task<Response> answer(PassedRequest request, StopSource& stop);

private:
  /// A call in progress at another node.
  struct Caller;

  Task<ToolOutcome> pass_on(std::string node, PassedRequest request, StopSource& stop);
  Task<Response> answer_call(PassedRequest request, StopSource& stop);
  Task<Response> answer_question(PassedRequest request, StopSource& stop);
  Task<PersonAnswer> ask(std::string node, std::string call_id, PersonQuestion question, StopSource& stop);

  Loop& loop_;
  Integrations& integrations_;
  const std::string node_;
  NodeBus* bus_ = nullptr;
  std::map<std::string, std::shared_ptr<Caller>> callers_;  ///< only calls that can ask a person, by a generated id
};

}  // namespace agw
