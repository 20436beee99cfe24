/** Parses the text of a Git graph into the structure that mermaid's renderer expects. */

interface Statement {
  $type: string;
  tags: string[];
  [member: string]: string | number | string[];
}

interface GitGraph {
  dir?: string;
  title?: string;
  accTitle?: string;
  accDescr?: string;
  statements: Statement[];
}

/** By keyword: the type of the statement, the member whose name is omitted, and the named members. */
const kinds: Record<string, [type: string, plain: string, named: string]> = {
  commit: ['Commit', 'message', 'id msg tag type'],
  branch: ['Branch', 'name', 'order'],
  merge: ['Merge', 'branch', 'id tag type'],
  checkout: ['Checkout', 'branch', ''],
  switch: ['Checkout', 'branch', ''],
  'cherry-pick': ['CherryPicking', '', 'id tag parent'],
};
const head = /^\s*gitGraph\s*(LR|TB|BT)?\s*:?\s*$/;
const told = /^\s*(title|accTitle|accDescr)\b\s*:?\s*(.*)$/;
const word = /^\s*([a-z-]+)(?=\s|$)(.*)$/;
/** A value, optionally preceded by the name of its member. */
const value = /\s*(?:([a-z]+)\s*:\s*)?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\w./-]+)/y;

/** Parses the members of a statement; undefined if `text` is invalid. */
function membersOf(kind: string, text: string): Statement | undefined {
  const [type, plain, named] = kinds[kind] ?? ['', '', ''];
  const statement: Statement = { $type: type, tags: [] };
  value.lastIndex = 0;
  let end = 0;
  for (let found = value.exec(text); found; found = value.exec(text)) {
    end = value.lastIndex;
    const [, name, given = ''] = found;
    const said = given.replace(/^(["'])(.*)\1$/, '$2');
    if (!(name ? named.split(' ').includes(name) : plain && !(plain in statement))) return undefined;
    if (name === 'tag') statement.tags.push(said);
    else if (name === 'order') statement.order = Number(said);
    else statement[name === 'msg' ? 'message' : (name ?? plain)] = said;
  }
  const isKnown = !('type' in statement) || ['NORMAL', 'REVERSE', 'HIGHLIGHT'].includes(String(statement.type));
  const isWhole = kind === 'commit' || (kind === 'cherry-pick' ? 'id' : plain) in statement;
  return isKnown && isWhole && !text.slice(end).trim() ? statement : undefined;
}

export function parseGitGraph(text: string): GitGraph {
  const graph: GitGraph = { statements: [] };
  let begun = false;
  text.split('\n').forEach((line, i) => {
    const shown = line.replace(/^\s*%%.*$/, '');
    if (!shown.trim()) return;
    if (!begun) {
      const found = head.exec(shown);
      if (!found) throw new Error(`Parse error on line ${i + 1}: a Git graph begins with "gitGraph"`);
      begun = true;
      if (found[1]) graph.dir = found[1];
      return;
    }
    const [, name, words = ''] = told.exec(shown) ?? [];
    const [, kind = '', rest = ''] = word.exec(shown) ?? [];
    const statement = Object.hasOwn(kinds, kind) ? membersOf(kind, rest) : undefined;
    if (name) graph[name as 'title' | 'accTitle' | 'accDescr'] = words.trim();
    else if (statement) graph.statements.push(statement);
    else throw new Error(`Parse error on line ${i + 1}: ${shown.trim()}`);
  });
  return graph;
}
