/** A shared chat in the fragment of an address, which browsers do not send to servers. */
import { fromBase64url, toBase64url } from '../base/base64url';

/**
 * In characters. Firefox opens addresses of up to 1,048,572 characters, Chromium and Safari of up to 2 MiB. But
 * Chromium cuts what is pasted into its address bar after 512,000.
 */
const maxFragment = 500_000;
/** The maximum size of the unpacked content, in bytes: a forged fragment could unpack to any size. */
const maxContent = 2 * 1024 * 1024;
/** The start of each fragment: the version of the format, so that another version can follow. */
const prefix = '#1.';

/** Nothing if the content, or the fragment, is too large. */
export async function packed(content: Blob): Promise<string | undefined> {
  if (content.size > maxContent) return undefined;
  const stream = content.stream().pipeThrough(new CompressionStream('deflate-raw'));
  const fragment = prefix + toBase64url(new Uint8Array(await new Response(stream).arrayBuffer()));
  return fragment.length > maxFragment ? undefined : fragment;
}

/** Throws a RangeError if the fragment or its content is too large, and other errors if it is not a complete chat. */
export async function unpacked(fragment: string): Promise<string> {
  if (!fragment.startsWith(prefix)) throw new Error('format');
  if (fragment.length > maxFragment) throw new RangeError('fragment');
  const bytes = fromBase64url(fragment.slice(prefix.length));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > maxContent) {
      await reader.cancel();
      throw new RangeError('content');
    }
    parts.push(value);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(await new Blob(parts).arrayBuffer());
}
