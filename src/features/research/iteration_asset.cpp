#include "features/research/iteration_asset.hpp"

#include "base/async/assert.hpp"
#include "base/digest.hpp"

namespace agw {

namespace {

constexpr auto changed_meanwhile = "somebody else changed the file meanwhile: what they wrote stays";

}  // namespace

Task<AssetCopy> IterationAsset::read() const {
  co_return co_await blocking_.run([path = path_] { return read_asset(path); });
}

void IterationAsset::record_original(AssetCopy original) {
  AGW_ASSERT(!original_);
  AGW_ASSERT(!is_put_back_);

  trace_.left = original.bytes;
  original_ = std::move(original);
}

Task<> IterationAsset::record(std::optional<std::string> by_run) {
  AGW_ASSERT(original_);
  AGW_ASSERT(!is_put_back_);

  auto now = (co_await read()).bytes;
  if (now != trace_.left) {
    const bool is_other = by_run && to_hex(sha256(now)) != *by_run;
    if (is_other) trace_.may_differ = false;
    if (!trace_.may_differ) throw IterationProblem(changed_meanwhile);
    trace_.left = std::move(now);
    trace_.is_unclear = true;
  }
  trace_.may_differ = false;
}

Task<> IterationAsset::replace(std::string text) {
  AGW_ASSERT(original_);
  AGW_ASSERT(!is_put_back_);

  trace_.left = text;
  co_await blocking_.run(
      [path = path_, copy = AssetCopy{std::move(text), original_->mode}] { write_asset(path, copy); });
}

Task<> IterationAsset::put_back() {
  if (!original_ || is_put_back_) co_return;
  const bool is_ours = co_await blocking_.run(
      [path = path_, original = *original_, trace = trace_] { return put_asset_back(path, original, trace); });
  is_put_back_ = true;
  if (!is_ours) throw IterationProblem(changed_meanwhile);
}

}  // namespace agw
