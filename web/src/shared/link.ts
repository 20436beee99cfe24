/** A shared chat in the fragment of an address, which browsers send to no server. */

/** In characters. Longer addresses are cut by many programs, and refused by some. */
export const maxFragment = 32 * 1024;
/** What is read of a fragment, in bytes: anybody can make one that unpacks to any size. */
const maxContent = 2 * 1024 * 1024;
/** Of the format, so that another can follow. */
const prefix = '#1.';

/** The length of the fragment with so many packed bytes. */
const lengthOf = (bytes: number): number => prefix.length + Math.ceil((bytes * 4) / 3);

/** `fragment` is missing if it were longer than `maxFragment`. */
export async function packed(content: string): Promise<{ length: number; fragment?: string }> {
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = lengthOf(bytes.length);
  if (length > maxFragment) return { length };
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const address = text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return { length, fragment: prefix + address };
}

/** Throws a RangeError for more than a chat may be, and other errors for what is no chat, or only a part of one. */
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
