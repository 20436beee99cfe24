/** Replaces mermaid's parser for several kinds of diagrams, of which this page draws two. */
import { parseGitGraph } from './git_graph';
import { parsePie } from './pie';

export async function parse(kind: string, text: string): Promise<unknown> {
  if (kind === 'pie') return parsePie(text);
  if (kind === 'gitGraph') return parseGitGraph(text);
  throw new Error(`no diagram of the kind ${kind} can be drawn`);
}
