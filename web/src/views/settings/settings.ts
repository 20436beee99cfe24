/** What the view of settings shows of them. */
import type { Setting } from '../../api/types';
import { t } from '../../base/language';

/** A value as text, as in config.yaml. */
export const textOf = (value: unknown): string =>
  Array.isArray(value) ? value.join(', ') : typeof value === 'number' ? String(value) : ((value as string) ?? '');

/** Whether each of the words is in the setting's name or sentence. */
export function matches({ key, about }: Setting, words: string): boolean {
  const text = `${key} ${key.replace(/[._]/g, ' ')} ${about}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The value that the file sets: in effect, or from the next start on. */
export const valueOf = (setting: Setting): unknown => (setting.waits_for_restart ? setting.next_value : setting.value);

/** Whether both are the same. Only texts and numbers can be changed. */
export const isSame = (one: unknown, other: unknown): boolean => (one ?? null) === (other ?? null);

/** Unsaved values by key; null is the default. */
export type Edits = Record<string, { value: unknown }>;

/** Whether saving the value would change the file. */
export const isChange = (setting: Setting, value: unknown): boolean =>
  value === null ? setting.source !== 'built-in' : !isSame(value, valueOf(setting));

/** The unsaved values that still are changes: since they were typed, others may have changed the file. */
export const changesAmong = (edits: Edits, settings: Setting[]): Edits =>
  Object.fromEntries(
    settings.flatMap((setting) => {
      const edit = edits[setting.key];
      return edit && setting.editable && isChange(setting, edit.value) ? [[setting.key, edit]] : [];
    }),
  );

/** Settings by the first part of their names, in order; those of one part come first, together. */
export function groupsOf(settings: Setting[]): [title: string, settings: Setting[]][] {
  const groups = new Map<string, Setting[]>([[t('General'), []]]);
  for (const setting of settings) {
    const [first = '', ...rest] = setting.key.split('.');
    const title = rest.length ? first : t('General');
    groups.set(title, [...(groups.get(title) ?? []), setting]);
  }
  return [...groups].filter(([, members]) => members.length);
}
