/**
 * For the build of src/diagrams: of mermaid, the diagrams that people draw most. All of it is 0.7 MB even when compressed,
 * which the gateway has no room for.
 */

/** Kinds of diagrams, as their modules begin. What `diagram-…` are called: packet, radar, treemap and the like. */
const kinds =
  'abnf architecture block c4 cynefin ebnf gitGraph info ishikawa kanban mindmap peg railroad requirement sankey swimlanes ' +
  'usecase venn wardley';
/** Layouts and what only they need. */
const layouts = 'bpmnIcons cose-bilkent diagram elk sizeCapture swimlanes';
const packages =
  '@iconify/utils cytoscape cytoscape-cose-bilkent cytoscape-fcose d3-brush d3-sankey d3-transition d3-zoom elkjs katex';
const among = (names) => names.replaceAll(' ', '|');
const leftOut = new RegExp(
  `/(?:(?:${among(kinds)})(?:Diagram|-definition)|${among(layouts)})-\\w+\\.mjs$|^(?:${among(packages)})$`,
);
const nothing = '\0left-out';
/** Icons are not there either, and nothing asks for them that has none. */
const noCode = `export default {};
export const getIconData = () => null, iconToHTML = () => '', iconToSVG = () => ({}), replaceIDs = () => '', stringToIcon = () => null;`;

/** Calls `visit` for each node of a syntax tree, and not for those inside of one for which it returns false. */
function walk(node, visit) {
  if (Array.isArray(node)) for (const each of node) walk(each, visit);
  else if (node && typeof node.type === 'string' && visit(node) !== false)
    for (const member of Object.values(node)) if (member && typeof member === 'object') walk(member, visit);
}

/** What mermaid's own build adds to each function, its name as a string, and what it tells a developer. */
function cutsIn(tree) {
  const cuts = [];
  walk(tree, (node) => {
    if (node.type !== 'CallExpression') return true;
    const { callee, arguments: given } = node;
    if (callee.type === 'Identifier' && callee.name === '__name' && given.length === 2) {
      cuts.push([node.start, given[0].start, '('], [given[0].end, node.end, ')']);
      return true;
    }
    const isLog = callee.type === 'MemberExpression' && callee.object.name === 'log';
    if (!isLog || !['trace', 'debug', 'info', 'warn'].includes(callee.property.name)) return true;
    cuts.push([node.start, node.end, 'void 0']);
    return false;
  });
  return cuts.sort(([one], [other]) => one - other);
}

/** @returns {import('vite').Plugin} */
export const fewerDiagrams = () => ({
  name: 'fewer-diagrams',
  enforce: 'pre',
  async resolveId(id, from) {
    if (!from?.includes('/node_modules/')) return undefined;
    if (leftOut.test(id)) return nothing;
    // The parser of pies is a library of its own, larger than all the rest.
    if (id === '@mermaid-js/parser') return new URL('../src/diagrams/pie.ts', import.meta.url).pathname;
    // The same functions, of which mermaid has half anyway.
    if (id === 'lodash-es') return this.resolve('es-toolkit/compat', from);
    return undefined;
  },
  load: (id) => (id === nothing ? noCode : undefined),
  transform(code, id) {
    if (!id.includes('/node_modules/mermaid/')) return undefined;
    let [out, at] = ['', 0];
    for (const [start, end, instead] of cutsIn(this.parse(code))) {
      out += code.slice(at, start) + instead;
      at = end;
    }
    return { code: out + code.slice(at), map: null };
  },
});
