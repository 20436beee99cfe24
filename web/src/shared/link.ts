/** A shared chat in the fragment of an address, which browsers do not send to servers. Short links are in `stored.ts`. */
import { fromBase64url, toBase64url } from '../base/base64url';

/**
 * In characters. Firefox opens addresses of up to 1,048,572 characters, Chromium and Safari of up to 2 MiB. But
 * Chromium cuts what is pasted into its address bar after 512,000.
 */
const maxFragment = 500_000;
/** The maximum sizes of unpacked content, in bytes: what is forged could unpack to any size. */
const maxContent = 2 * 1024 * 1024;
export const maxStoredContent = 16 * 1024 * 1024;
/** The start of each fragment: the version of the format, so that another version can follow. */
const prefix = '#1.';

/** Compresses as raw DEFLATE. */
export async function deflated(content: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const stream = content.stream().pipeThrough(new CompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Throws a RangeError if the content has more than `max` bytes, and other errors if it is not a complete text. */
export async function inflated(bytes: Uint8Array<ArrayBuffer>, max: number): Promise<string> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > max) {
      await reader.cancel();
      throw new RangeError('content');
    }
    parts.push(value);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(await new Blob(parts).arrayBuffer());
}

/** Nothing if the content, or the fragment, is too large. */
export async function packed(content: Blob): Promise<string | undefined> {
  if (content.size > maxContent) return undefined;
  const fragment = prefix + toBase64url(await deflated(content));
  return fragment.length > maxFragment ? undefined : fragment;
}

/** Throws a RangeError if the fragment or its content is too large, and other errors if it is not a complete chat. */
export async function unpacked(fragment: string): Promise<string> {
  if (!fragment.startsWith(prefix)) throw new Error('format');
  if (fragment.length > maxFragment) throw new RangeError('fragment');
  return inflated(fromBase64url(fragment.slice(prefix.length)), maxContent);
}
