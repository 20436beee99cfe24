#pragma once

namespace agw {

/// Makes later TLS connections of libstrophe on this thread share one set of the host's certificate authorities.
/// Otherwise libstrophe reads them for each connection, which keeps 1 MiB of them. The set is shared while its file is
/// unchanged. Include this in sources of io/xmpp only. Blocks.
void share_trusted_roots();

}  // namespace agw
