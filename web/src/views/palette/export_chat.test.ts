import { expect, test } from 'vitest';
import type { Turn } from '../../api/types';
import { fileNameOf, markdownOf } from './export_chat';

const turn = (role: string, content: string, metadata: object = {}): Turn =>
  ({ role, content, metadata, created_at: '2026-11-20T12:34:56.789Z' }) as unknown as Turn;

test('a chat is exported with its tools, and without replaced answers', () => {
  const text = markdownOf('A\nchat', [
    turn('user', 'Read it.'),
    turn('tool', 'has ``` in it', { tool_name: 'Read', input: { path: 'a.md' } }),
    turn('assistant', 'Old.', { superseded: true }),
    turn('system', 'Be\nshort.'),
    turn('assistant', 'New.', { model: 'stub/one' }),
  ]);
  expect(text).toBe(
    '# A chat\n\n## You, 2026-11-20 12:34 UTC\n\nRead it.\n\n' +
      '### Tool Read\n\n```json\n{\n  "path": "a.md"\n}\n```\n\n````\nhas ``` in it\n````\n\n' +
      '> Note: Be\n> short.\n\n## Assistant (stub/one), 2026-11-20 12:34 UTC\n\nNew.\n',
  );
});

test('a file name from a title cannot leave the download folder', () => {
  expect(fileNameOf('../../etc/passwd')).toBe('etcpasswd.md');
  expect(fileNameOf('\u202Egnp.exe')).toBe('gnpexe.md');
  expect(fileNameOf('🙂'.repeat(10_000))).toBe('chat.md');
});
