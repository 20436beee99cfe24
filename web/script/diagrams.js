/**
 * For the build of src/diagrams: reduces mermaid to the most common kinds of diagrams. All of mermaid is 0.7 MB even when
 * compressed, which is too much for the binary.
 */

/** Excluded kinds of diagrams, as prefixes of their modules. `diagram-…` are packet, radar, treemap and similar ones. */
const kinds =
  'abnf architecture block c4 cynefin ebnf info ishikawa kanban peg railroad requirement sankey swimlanes ' +
  'usecase venn wardley';
/** Excluded layouts, and modules that only they use. */
const layouts = 'bpmnIcons diagram elk sizeCapture swimlanes';
const packages =
  '@iconify/utils cytoscape cytoscape-cose-bilkent cytoscape-fcose d3-brush d3-sankey d3-transition d3-zoom elkjs katex';
const alternatives = (names) => names.replaceAll(' ', '|');
const excluded = new RegExp(
  `/(?:(?:${alternatives(kinds)})(?:Diagram|-definition)|${alternatives(layouts)})-\\w+\\.mjs$|^(?:${alternatives(packages)})$`,
);
const emptyModule = '\0excluded';
const replacement = (name) => new URL(`../src/diagrams/${name}.ts`, import.meta.url).pathname;
/** Icons are excluded too. Only diagrams with icons call these functions. */
const emptyCode = `export default {};
export const getIconData = () => null, iconToHTML = () => '', iconToSVG = () => ({}), replaceIDs = () => '', stringToIcon = () => null;`;

/** Calls `visit` for each node of a syntax tree. If it returns false, the node's descendants are skipped. */
function walk(node, visit) {
  if (Array.isArray(node)) for (const each of node) walk(each, visit);
  else if (node && typeof node.type === 'string' && visit(node) !== false)
    for (const member of Object.values(node)) if (member && typeof member === 'object') walk(member, visit);
}

/** Unused themes: the page uses `base`, and a diagram may name four others. */
const isUnusedTheme = ({ type, key }) => type === 'Property' && /^(neo|redux)\b/.test(key.name ?? key.value);
/** Colours of excluded kinds, which each theme computes. */
const excludedColors = /^(?:arch|cynefin|em[A-Z]|radar|requirement|venn|wardley)/;
const isUnusedColor = ({ type, expression }) =>
  type === 'ExpressionStatement' &&
  expression.type === 'AssignmentExpression' &&
  expression.left.object?.type === 'ThisExpression' &&
  excludedColors.test(expression.left.property.name ?? '');
const isNameCall = ({ expression }) => expression?.type === 'CallExpression' && expression.callee.name === '__name';

/**
 * Edits that remove the name which mermaid's build adds to each function, log messages, unused themes and colours, and
 * `parser`.
 */
function editsIn(tree, parser) {
  const edits = [];
  walk(tree, (node) => {
    if (node === parser) {
      edits.push([node.start, node.end, 'mindmapParser']);
      return false;
    }
    if ((node.type === 'StaticBlock' && node.body.every(isNameCall)) || isUnusedColor(node)) {
      edits.push([node.start, node.end, '']);
      return false;
    }
    if (node.type === 'VariableDeclarator' && node.id.name === 'themes_default') {
      for (const theme of node.init.properties.filter(isUnusedTheme)) edits.push([theme.start, theme.end, '...null']);
      return false;
    }
    if (node.type !== 'CallExpression') return true;
    const { callee, arguments: given } = node;
    if (callee.type === 'Identifier' && callee.name === '__name' && given.length === 2) {
      edits.push([node.start, given[0].start, '('], [given[0].end, node.end, ')']);
      return true;
    }
    const isLog = callee.type === 'MemberExpression' && callee.object.name === 'log';
    if (!isLog || !['trace', 'debug', 'info', 'warn'].includes(callee.property.name)) return true;
    edits.push([node.start, node.end, 'void 0']);
    return false;
  });
  return edits.sort(([one], [other]) => one - other);
}

/** The parser in mermaid's module for mind maps. A smaller one replaces it. */
function findParser(tree) {
  const names = tree.body.flatMap((node) => (node.type === 'VariableDeclaration' ? node.declarations : []));
  const parser = names.find(({ id }) => id.name === 'parser');
  if (!parser) throw new Error('the build of mermaid has changed: see findParser in script/diagrams.js');
  return parser.init;
}

/** @returns {import('vite').Plugin} */
export const fewerDiagrams = () => ({
  name: 'fewer-diagrams',
  enforce: 'pre',
  async resolveId(id, from) {
    if (!from?.includes('/node_modules/')) return undefined;
    if (excluded.test(id)) return emptyModule;
    if (id === 'mindmap-parser') return replacement('mindmap_parser');
    // The parser of pies and Git graphs is a separate library, larger than all other code.
    if (id === '@mermaid-js/parser') return replacement('parser');
    // So is the layout of mind maps.
    if (/\/cose-bilkent-\w+\.mjs$/.test(id)) return replacement('mindmap_layout');
    // The same functions; mermaid contains half of them anyway.
    if (id === 'lodash-es') return this.resolve('es-toolkit/compat', from);
    return undefined;
  },
  load: (id) => (id === emptyModule ? emptyCode : undefined),
  transform(code, id) {
    if (!id.includes('/node_modules/mermaid/')) return undefined;
    const isMindMap = /\/mindmap-definition-\w+\.mjs$/.test(id);
    const tree = this.parse(code);
    let [out, at] = [isMindMap ? "import { mindmapParser } from 'mindmap-parser';\n" : '', 0];
    for (const [start, end, text] of editsIn(tree, isMindMap ? findParser(tree) : undefined)) {
      out += code.slice(at, start) + text;
      at = end;
    }
    return { code: out + code.slice(at), map: null };
  },
});
