#include "features/integrations/transport.hpp"

#include "features/integrations/pending.hpp"

namespace agw {

void McpTransport::pass_on(const RpcMessage& message, PendingRequests& pending) {
  switch (message.kind) {
    case RpcMessage::Kind::request:
      if (!on_request_(message)) respond(rpc_reply(message));
      return;
    case RpcMessage::Kind::notification:
      if (message.method == "notifications/progress") pending.note_progress(message);
      return on_notice_(message);
    case RpcMessage::Kind::response:
      pending.take(message);
      return;
    case RpcMessage::Kind::invalid:
      return;
  }
}

}  // namespace agw
