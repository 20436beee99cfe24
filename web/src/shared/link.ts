/** A shared chat in the fragment of an address, which browsers do not send to servers. */

/** In characters. Many programs truncate longer addresses, and some refuse them. */
export const maxFragment = 32 * 1024;
/** The maximum size of the unpacked content, in bytes: a forged fragment could unpack to any size. */
const maxContent = 2 * 1024 * 1024;
/** The start of each fragment: the version of the format, so that another version can follow. */
const prefix = '#1.';

/** The length of a fragment that contains this number of packed bytes. */
const lengthOf = (bytes: number): number => prefix.length + Math.ceil((bytes * 4) / 3);

/** Omits `fragment` if it would be longer than `maxFragment`. */
export async function packed(content: string): Promise<{ length: number; fragment?: string }> {
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = lengthOf(bytes.length);
  if (length > maxFragment) return { length };
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const address = text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return { length, fragment: prefix + address };
}

/** Throws a RangeError if the fragment or its content is too large, and other errors if it is not a complete chat. */
export async function unpacked(fragment: string): Promise<string> {
  if (!fragment.startsWith(prefix)) throw new Error('format');
  if (fragment.length > maxFragment) throw new RangeError('fragment');
  const text = atob(fragment.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
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
