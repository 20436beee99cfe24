import { ApiError, get, post } from '../../api/client';
import { socket } from '../../api/socket.svelte';
import type { Attachment } from '../../api/types';
import { escapeInvisible } from '../../base/escape';
import { t } from '../../base/language';

/** The gateway's limit for a file. */
const maxBytes = 20 * 1024 * 1024;

/** The gateway's limit for a name, in UTF-8. */
const maxNameBytes = 255;

/** The gateway rejects names with control characters. */
const unprintable = /\p{Cc}/gu;

/** Browsers read a file when it is sent, and refuse to if it was moved or changed. Chromium may say then that it is empty. */
const isReadable = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

/**
 * Begins again once the gateway is back, if it was stopped during the upload. Throws an ApiError if it is worth another
 * attempt, else an Error that names the file.
 */
export async function upload(file: File): Promise<Attachment> {
  const name = escapeInvisible(file.name);
  if (file.size > maxBytes) throw new Error(t('{name} is larger than 20 MB.', { name }));
  if (new Blob([file.name]).size > maxNameBytes)
    throw new Error(t('The name of a file is too long. Give it a shorter one: {name}', { name }));
  for (;;) {
    if (!file.size || !(await isReadable(file)))
      throw new Error(t('{name} is empty, or was moved or changed since you chose it.', { name }));
    try {
      return await post('/files', file, { query: { name: file.name.replace(unprintable, ' ') } });
    } catch (error) {
      const isCut = error instanceof ApiError && error.status === 0;
      if (!isCut || (await get('/health').catch(() => false))) throw error;
      await socket.reconnected();
    }
  }
}
