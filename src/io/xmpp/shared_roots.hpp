#pragma once

namespace agw {

/// From now on, TLS connections of libstrophe on this thread share one set of the host's certificate authorities.
/// libstrophe reads them for each connection, which then keeps a MiB of them. They are shared while their file is
/// unchanged. Include this in sources of io/xmpp only. Blocks.
void share_trusted_roots();

}  // namespace agw
