#pragma once

#include <memory>

namespace agw {

/// Deleter for OpenSSL's objects: `OpensslOwned<X509, X509_free>`.
template <auto free_it>
struct OpensslFree {
  void operator()(auto* given) const { free_it(given); }
};
template <class T, auto free_it>
using OpensslOwned = std::unique_ptr<T, OpensslFree<free_it>>;

}  // namespace agw
