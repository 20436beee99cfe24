/** The titles of chats, also of those that the list does not contain: archived and very old ones. */
import { apiPath, get } from '../api/client';
import type { Thread } from '../api/types';
import { t } from '../base/language';
import { threads } from './threads.svelte';

const read = new Map<string, Promise<string>>();

/** The title of a chat; it may have to be read from the gateway. */
export function titleOf(id: string): string | Promise<string> {
  const listed = threads.all.find((thread) => thread.id === id);
  if (listed) return listed.title;
  const asked = read.get(id) ?? get<Thread>(apiPath`/threads/${id}`).then(({ title }) => title, unknown(id));
  read.set(id, asked);
  return asked;
}

/** The chat may be read the next time. */
const unknown = (id: string) => (): string => {
  read.delete(id);
  return t('a chat');
};
