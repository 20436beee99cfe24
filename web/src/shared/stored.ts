/**
 * A shared chat that the gateway stores, encrypted. The fragment of its short link has the id and the key, which the
 * gateway never gets.
 */
import { fromBase64url, toBase64url } from '../base/base64url';
import { inflated, maxStoredContent } from './link';

/** Unlike links that contain the chat (`#1.`). */
const format = /^#2\.([0-9a-f]{32})\.([\w-]{43})$/;

export const fragmentOf = (id: string, key: Uint8Array): string => `#2.${id}.${toBase64url(key)}`;

/** Why a stored chat cannot be shown. */
export class NotShown extends Error {
  constructor(readonly reason: 'ended' | 'key' | 'unreachable') {
    super(reason);
  }
}

export const isStored = (fragment: string): boolean => format.test(fragment);

/** The content, and until when the link works. Throws NotShown, a RangeError if the content is too large, or others. */
export async function fetchStored(fragment: string): Promise<{ text: string; until: string | null }> {
  const [, id = '', key = ''] = format.exec(fragment) ?? [];
  const [{ opened }, response] = await Promise.all([
    import('./sealed'),
    fetch(`/ui/shared/${id}`).catch(() => undefined),
  ]);
  if (response?.status === 404) throw new NotShown('ended');
  const bytes = response?.ok && (await response.arrayBuffer().catch(() => undefined));
  if (!response || !bytes) throw new NotShown('unreachable');
  let content;
  try {
    content = opened(fromBase64url(key), new Uint8Array(bytes));
  } catch {
    throw new NotShown('key');
  }
  return { text: await inflated(content, maxStoredContent), until: response.headers.get('x-expires-at') };
}
