import { request } from '../../api/client';
import type { Attachment } from '../../api/types';

const largest = 20 * 1024 * 1024;

export async function upload(file: File): Promise<Attachment> {
  if (file.size > largest) throw new Error(`${file.name} is larger than 20 MB.`);
  const answer = await request('POST', '/files', { query: { name: file.name }, body: file });
  return (await answer.json()) as Attachment;
}
