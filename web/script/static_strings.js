import { parse } from 'svelte/compiler';

/**
 * Writes texts without values, `{t('…')}`, into the templates of components. `localized` (src/base/language.ts) translates
 * a whole template when Svelte first uses it. Separate calls would add several kilobytes to a chat.
 * Only for builds; elsewhere the calls remain.
 * @returns {import('vite').Plugin}
 */
export const staticStrings = () => ({
  name: 'static-strings',
  apply: 'build',
  enforce: 'pre',
  transform(code, id) {
    if (id.endsWith('.svelte')) return { code: withStaticStrings(code), map: null };
    if (!id.endsWith('/svelte/src/internal/client/dom/template.js')) return undefined;
    const call = "create_fragment_from_html(has_start ? content : '<!>' + content)";
    if (!code.includes(call)) throw new Error('Svelte reads templates differently now: see static_strings.js');
    const read = call.replace('(has', '(localized(has').replace(/$/, ')');
    return { code: `import { localized } from '/src/base/language.ts';\n${code.replace(call, read)}`, map: null };
  },
});

const translatedAttributes = ['aria-label', 'title', 'placeholder'];

/** The text of `t('…')` if it needs no escaping in a template. */
function textOf(node) {
  if (node?.type !== 'ExpressionTag') return undefined;
  const { type, callee, arguments: given } = node.expression;
  if (type !== 'CallExpression' || callee.name !== 't' || given.length !== 1) return undefined;
  return /[<>"&{}]/.test(given[0].value) ? undefined : given[0].value;
}

export function withStaticStrings(code) {
  const edits = [];
  const visit = (node, parent) => {
    if (!node || typeof node !== 'object') return;
    if (Array.isArray(node.nodes) && parent?.type === 'RegularElement' && parent.name !== 'option')
      edits.push(...editsOf(node.nodes));
    if (node.type === 'RegularElement' && !node.attributes.some(({ type }) => type === 'SpreadAttribute'))
      for (const { name, value } of node.attributes) {
        const text = translatedAttributes.includes(name) ? textOf(value) : undefined;
        if (text) edits.push([value.start, value.end, `"${text}"`]);
      }
    for (const [key, child] of Object.entries(node)) {
      if (key === 'metadata' || key === 'loc') continue;
      if (Array.isArray(child)) for (const one of child) visit(one, node);
      else if (child?.type) visit(child, node);
    }
  };
  visit(parse(code, { modern: true }).fragment);
  return edits
    .sort(([a], [b]) => b - a)
    .reduce((text, [start, end, words]) => text.slice(0, start) + words + text.slice(end), code);
}

/** Skips texts next to another expression: Svelte updates them together, so they are not part of the template. */
function editsOf(nodes) {
  const edits = [];
  let run = [];
  for (const node of [...nodes, undefined]) {
    if (node?.type === 'Text' || node?.type === 'ExpressionTag') {
      run.push(node);
      continue;
    }
    const expressions = run.filter(({ type }) => type === 'ExpressionTag');
    const text = expressions.length === 1 ? textOf(expressions[0]) : undefined;
    if (text && run.every((one) => one.type !== 'Text' || !one.data.trim()))
      edits.push([expressions[0].start, expressions[0].end, text]);
    run = [];
  }
  return edits;
}
