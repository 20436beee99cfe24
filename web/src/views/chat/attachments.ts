import { request } from '../../api/client';
import type { Attachment } from '../../api/types';

/** In bytes; more the gateway refuses. */
export const largest = 20 * 1024 * 1024;

export async function upload(file: File): Promise<Attachment> {
  const answer = await request('POST', '/files', { query: { name: file.name }, body: file });
  return (await answer.json()) as Attachment;
}
