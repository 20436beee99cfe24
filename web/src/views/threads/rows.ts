/** The list of chats as rows at fixed positions, so that only those in sight have to be rendered. */
import type { Thread } from '../../api/types';
import { day } from '../../base/format';
import { t } from '../../base/language';

/** Heights in CSS pixels. The styles of the list must repeat them. */
export const heights = { chat: 44, day: 28, group: 36 };

export interface Row {
  /** The id of the chat, or a key of the heading. Unique, because pinned chats are in no other group. */
  key: string;
  top: number;
  height: number;
  thread?: Thread;
  heading?: { text: string; level: 0 | 1; icon?: string };
}

/** The rendered chats below one heading. The heading is undefined if it is above the first rendered row. */
export interface Section {
  key: string;
  heading?: Row['heading'];
  chats: Thread[];
}

interface Group {
  key: string;
  name: string;
  icon: string;
  chats: Thread[];
  hasDays: boolean;
}

function groupsOf(threads: Thread[], projectName: (id: string) => string): Group[] {
  const pinned: Thread[] = [];
  const others: Thread[] = [];
  const projects = new Map<string, Thread[]>();
  for (const thread of threads) {
    const id = thread.project_id;
    if (thread.pinned) pinned.push(thread);
    else if (!id) others.push(thread);
    else if (projects.has(id)) projects.get(id)?.push(thread);
    else projects.set(id, [thread]);
  }
  const named = [...projects].map(([id, chats]) => ({
    key: id,
    name: projectName(id),
    icon: 'folder-git-2',
    chats,
    hasDays: true,
  }));
  return [
    { key: 'pinned', name: t('Pinned'), icon: 'pin', chats: pinned, hasDays: false },
    ...named,
    { key: 'others', name: named.length ? t('No project') : '', icon: 'message-square', chats: others, hasDays: true },
  ].filter(({ chats }) => chats.length > 0);
}

/** `threads`: in the order to show. `today`: the midnight at the beginning of today, in milliseconds since 1970. */
export function rowsOf(threads: Thread[], projectName: (id: string) => string, today: number): Row[] {
  const rows: Row[] = [];
  let top = 0;
  const add = (row: Omit<Row, 'top' | 'height'>, height: number): void => {
    rows.push({ ...row, top, height });
    top += height;
  };
  const days = new Map<number, string>();
  const dayOf = (thread: Thread): string => {
    const midnight = new Date(thread.updated_at).setHours(0, 0, 0, 0);
    const known = days.get(midnight) ?? day(thread.updated_at, new Date(today));
    days.set(midnight, known);
    return known;
  };
  for (const { key, name, icon, chats, hasDays } of groupsOf(threads, projectName)) {
    if (name) add({ key: `group ${key}`, heading: { text: name, level: 0, icon } }, heights.group);
    let before = '';
    for (const thread of chats) {
      const now = hasDays ? dayOf(thread) : '';
      if (now !== before) add({ key: `day ${key} ${now}`, heading: { text: now, level: name ? 1 : 0 } }, heights.day);
      before = now;
      add({ key: thread.id, thread }, heights.chat);
    }
  }
  return rows;
}

/** The index of the last row that begins at or above `place`, in pixels; 0 if there is none. */
export function rowAt(rows: Row[], place: number): number {
  let [low, high] = [0, rows.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((rows[middle]?.top ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/** Groups the rows from index `from` to `to` (exclusive) by heading. */
export function sectionsOf(rows: Row[], from: number, to: number): Section[] {
  const sections: Section[] = [];
  for (const { key, heading, thread } of rows.slice(from, to)) {
    if (heading) sections.push({ key, heading, chats: [] });
    else if (thread) {
      if (sections.length === 0) sections.push({ key: headingBefore(rows, from), chats: [] });
      sections.at(-1)?.chats.push(thread);
    }
  }
  return sections;
}

function headingBefore(rows: Row[], index: number): string {
  for (let i = index; i >= 0; i--) if (rows[i]?.heading) return rows[i]?.key ?? '';
  return '';
}
