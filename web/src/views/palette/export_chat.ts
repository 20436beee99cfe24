/** Exports a chat as a Markdown file. */
import { apiPath, get } from '../../api/client';
import type { Thread, Turn } from '../../api/types';
import { download } from '../../base/download';
import { answerData, toolData } from '../../state/timeline';

const page = 1000;

/** A block of code whose fence is longer than any within it. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function sectionOf(turn: Turn): string {
  const at = turn.created_at.slice(0, 16).replace('T', ' ');
  if (turn.role === 'tool') {
    const { tool_name: name, input } = toolData(turn);
    const asked = input === undefined || input === null ? [] : [fenced(JSON.stringify(input, null, 2), 'json')];
    return [`### Tool ${typeof name === 'string' ? name : ''}`.trim(), ...asked, fenced(turn.content)].join('\n\n');
  }
  if (turn.role === 'system') return `> Note: ${turn.content.replaceAll('\n', '\n> ')}`;
  const { model } = answerData(turn);
  const who = turn.role === 'user' ? 'You' : typeof model === 'string' ? `Assistant (${model})` : 'Assistant';
  return `## ${who}, ${at} UTC\n\n${turn.content}`;
}

/** `turns`: oldest first. Omits answers that were replaced. */
export function markdownOf(title: string, turns: Turn[]): string {
  const kept = turns.filter((turn) => answerData(turn).superseded !== true);
  return [`# ${title.replace(/\s+/g, ' ')}`, ...kept.map(sectionOf)].join('\n\n') + '\n';
}

export const fileNameOf = (title: string): string =>
  `${
    title
      .replace(/[^\p{L}\p{N} _-]+/gu, '')
      .trim()
      .slice(0, 60)
      .trim() || 'chat'
  }.md`;

async function allTurns(id: string): Promise<Turn[]> {
  const newestFirst: Turn[] = [];
  for (;;) {
    const read = await get<Turn[]>(apiPath`/threads/${id}/turns`, { limit: page, before: newestFirst.at(-1)?.id });
    newestFirst.push(...read);
    if (read.length < page) return newestFirst.reverse();
  }
}

export async function exportChat({ id, title }: Thread): Promise<void> {
  download(fileNameOf(title), markdownOf(title, await allTurns(id)), 'text/markdown');
}
