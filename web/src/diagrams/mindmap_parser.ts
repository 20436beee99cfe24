/** Parses the text of a mind map. Replaces mermaid's own parser, which consists of large tables. */

interface MindMap {
  addNode(level: number, id: string, text: string, type: number): void;
  decorateNode(decoration: { icon?: string; class?: string }): void;
  getType(start: string, end: string): number;
  nodeType: { DEFAULT: number };
}

const blank = /[ \t]*(?:%%[^\n]*)?(?:\n|$)/y;
const head = /[ \t]*mindmap[ \t]*(?:\n|$)/y;
const starts = /\(\(|\(-|\(|\[|\)\)|\)|-\)|\{\{/;
const ends = /\)\)|-\)|\)|\]|\}\}|\(-|\(\(|\(/;
/**
 * An icon, a class, or a node. A node is a name, a text in brackets, or both; the brackets determine its shape. A text
 * of several lines is quoted.
 */
const line = new RegExp(
  String.raw`([ \t]*)(?:::icon\(([^)\n]*)\)|:::([^\n]+)|([^()[\]{}\n]*?)` +
    `(?:(${starts.source})(?:[ \\t]*"(?:\`([^\`]*)\`|([^"\`][^"]*))"[ \\t]*|([^\\n]*?))(${ends.source}))?)` +
    String.raw`[ \t]*(?:%%[^\n]*)?(?:\n|$)`,
  'y',
);

function read(text: string, map: MindMap): void {
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const wrong = (): Error => new Error(`Parse error on line ${text.slice(0, at).split('\n').length}`);
  while (at < text.length && next(blank));
  if (!next(head)) throw wrong();
  while (at < text.length) {
    if (next(blank)) continue;
    const found = next(line);
    if (!found) throw wrong();
    const [, indent = '', icon, name, words = '', start, marked, quoted, plain, end] = found;
    if (icon !== undefined) map.decorateNode({ icon });
    else if (name !== undefined) map.decorateNode({ class: name.trim() });
    else if (start && end) {
      const said = marked ?? quoted ?? plain ?? '';
      map.addNode(indent.length, words.trim() || said, said, map.getType(start, end));
    } else map.addNode(indent.length, words.trim(), words.trim(), map.nodeType.DEFAULT);
  }
}

/** The interface that mermaid expects of a parser. Mermaid sets `yy` before it calls `parse`. */
export const mindmapParser = {
  yy: undefined as unknown as MindMap,
  parse: (text: string): void => read(text, mindmapParser.yy),
};
