/** Counts and describes the files that a run changed. */
import type { RunChanges } from '../../api/types';
import { diffBlocks } from '../approvals/exact';
import { t } from '../../base/language';

export type FileChange = RunChanges['changes'][number];

export interface Sum {
  added: number;
  removed: number;
}

/** The numbers of lines that the changes add and remove. */
export function sumOf(changes: FileChange[]): Sum {
  const sum = { added: 0, removed: 0 };
  for (const { diff } of changes)
    for (const { kind, lines } of diffBlocks(diff))
      if (kind === 'added' || kind === 'removed') sum[kind] += lines.length;
  return sum;
}

/** Explains why a change has no diff. */
export function withoutDiff({ is_binary: isBinary, type, mode_before: before, mode_after: after }: FileChange): string {
  if (isBinary) return t('A binary file: there is no text to compare.');
  if (type === 'directory') return t('A directory.');
  if (before !== after) return t('Permission bits: {before} became {after}.', { before, after });
  return t('The contents are no longer kept, or too long to compare.');
}

/** Whether a path is the directory, or below it. */
export function isIn(path: string, directory: unknown): boolean {
  if (typeof directory !== 'string' || !directory.startsWith('/')) return false;
  const root = directory.replace(/\/*$/, '/');
  return path.startsWith(root);
}
