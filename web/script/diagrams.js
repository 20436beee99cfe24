/**
 * For the build of src/diagrams: of mermaid, the diagrams that people draw most. All of it is 0.7 MB even when compressed,
 * which the gateway has no room for.
 */

/** Kinds of diagrams, as their modules begin. What `diagram-…` are called: packet, radar, treemap and the like. */
const kinds =
  'abnf architecture block c4 cynefin ebnf info ishikawa kanban peg railroad requirement sankey swimlanes ' +
  'usecase venn wardley';
/** Layouts and what only they need. */
const layouts = 'bpmnIcons diagram elk sizeCapture swimlanes';
const packages =
  '@iconify/utils cytoscape cytoscape-cose-bilkent cytoscape-fcose d3-brush d3-sankey d3-transition d3-zoom elkjs katex';
const among = (names) => names.replaceAll(' ', '|');
const leftOut = new RegExp(
  `/(?:(?:${among(kinds)})(?:Diagram|-definition)|${among(layouts)})-\\w+\\.mjs$|^(?:${among(packages)})$`,
);
const nothing = '\0left-out';
const ours = (name) => new URL(`../src/diagrams/${name}.ts`, import.meta.url).pathname;
/** Icons are not there either, and nothing asks for them that has none. */
const noCode = `export default {};
export const getIconData = () => null, iconToHTML = () => '', iconToSVG = () => ({}), replaceIDs = () => '', stringToIcon = () => null;`;

/** Calls `visit` for each node of a syntax tree, and not for those inside of one for which it returns false. */
function walk(node, visit) {
  if (Array.isArray(node)) for (const each of node) walk(each, visit);
  else if (node && typeof node.type === 'string' && visit(node) !== false)
    for (const member of Object.values(node)) if (member && typeof member === 'object') walk(member, visit);
}

/** Themes that nothing asks for: the page's are `default` and `dark`, and a diagram may name three others. */
const isUnusedTheme = ({ type, key }) => type === 'Property' && /^(neo|redux)\b/.test(key.name ?? key.value);
const isName = ({ expression }) => expression?.type === 'CallExpression' && expression.callee.name === '__name';

/** What mermaid's own build adds to each function, its name as a string, and what it tells a developer; and `parser`. */
function cutsIn(tree, parser) {
  const cuts = [];
  walk(tree, (node) => {
    if (node === parser) {
      cuts.push([node.start, node.end, 'mindmapParser']);
      return false;
    }
    if (node.type === 'StaticBlock' && node.body.every(isName)) {
      cuts.push([node.start, node.end, '']);
      return false;
    }
    if (node.type === 'VariableDeclarator' && node.id.name === 'themes_default') {
      for (const theme of node.init.properties.filter(isUnusedTheme)) cuts.push([theme.start, theme.end, '...null']);
      return false;
    }
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

/** The parser that is written into the module of mind maps; ours is smaller. */
function parserIn(tree) {
  const names = tree.body.flatMap((node) => (node.type === 'VariableDeclaration' ? node.declarations : []));
  const parser = names.find(({ id }) => id.name === 'parser');
  if (!parser) throw new Error('mermaid is built in another way now: see parserIn in script/diagrams.js');
  return parser.init;
}

/** @returns {import('vite').Plugin} */
export const fewerDiagrams = () => ({
  name: 'fewer-diagrams',
  enforce: 'pre',
  async resolveId(id, from) {
    if (!from?.includes('/node_modules/')) return undefined;
    if (leftOut.test(id)) return nothing;
    if (id === 'mindmap-parser') return ours('mindmap_parser');
    // The parser of pies and Git graphs is a separate library, larger than all the rest.
    if (id === '@mermaid-js/parser') return ours('parser');
    // So is the layout of mind maps.
    if (/\/cose-bilkent-\w+\.mjs$/.test(id)) return ours('mindmap_layout');
    // The same functions, of which mermaid has half anyway.
    if (id === 'lodash-es') return this.resolve('es-toolkit/compat', from);
    return undefined;
  },
  load: (id) => (id === nothing ? noCode : undefined),
  transform(code, id) {
    if (!id.includes('/node_modules/mermaid/')) return undefined;
    const isMindMap = /\/mindmap-definition-\w+\.mjs$/.test(id);
    const tree = this.parse(code);
    let [out, at] = [isMindMap ? "import { mindmapParser } from 'mindmap-parser';\n" : '', 0];
    for (const [start, end, instead] of cutsIn(tree, isMindMap ? parserIn(tree) : undefined)) {
      out += code.slice(at, start) + instead;
      at = end;
    }
    return { code: out + code.slice(at), map: null };
  },
});
