// Extracts the texts of the page from its source: all arguments of `t` and `tn`, and texts that are shown without them.
// `npm run strings` writes the former to src/languages/en.json, for translators.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'svelte/compiler';

const source = new URL('../src/', import.meta.url);
const catalogue = (language) => new URL(`languages/${language}.json`, source);
export const readCatalogue = (language) => JSON.parse(readFileSync(catalogue(language), 'utf8'));

const shownAttributes = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label']);
const shownProperties = new Set([...shownAttributes, 'what', 'none', 'about', 'closeLabel']);

/** Elements whose content is the same in every language. */
const literalElements = new Set(['code', 'kbd', 'style', 'script']);

/** Calls whose texts are not shown: for the console, for the document, for comparisons. */
const literalCalls = new Set(
  (
    'warn debug matchMedia MediaQuery Symbol Set RegExp querySelector querySelectorAll closest matches includes split ' +
    'join replaceAll replace startsWith endsWith setAttribute getAttribute setProperty createPolicy'
  ).split(' '),
);

/** Texts that are the same in every language: names, keys, units, selectors, formats, and the headings of exported chats. */
const names = new Set([
  ...(
    'Telegram Matrix Read Glob Grep WebFetch WebSearch SearchTurns SearchKnowledge ListExtensions ReadSkill Tasks ' +
    'Propose Write Edit Bash Remember RunJob Delegate CreateExtension UpdateExtension English Deutsch You Assistant ' +
    'AltGraph Backspace Control ControlLeft Delete Enter'
  ).split(' '),
  'Agent Gateway',
  'Assistant ({})',
  'Bearer {}',
  'Do this: $ARGUMENTS',
  'Find files *.md',
  'List commands',
  'List jobs',
  'Node.js',
  'Python',
  'Vite',
  'What can you do without a model?',
  '> Note: {}',
  '{} min {} s',
  'agw import {} --dry-run',
  'color-scheme: {}',
  'compile-knowledge',
  '/ui/',
  'index.html has no #page',
  'j k a r e',
  'y t p n',
  'section textarea',
  'textarea, input, dialog, [contenteditable]',
  'textarea, input:not([type=checkbox]), dialog *',
]);

/** Whether a text begins with a capital letter or has several words. */
const isWords = (text) => /^[“"(]?[A-Z][a-z]/.test(text) || /[a-z,:;.]\s+[a-zA-Z“]/.test(text);
const hasLetters = (text) => /[A-Za-z]{2}/.test(text);

class Reader {
  messages = new Map();
  untranslated = [];

  file(path, code) {
    this.path = path;
    // `</script` in a string would end the element that wraps the code.
    const whole = path.endsWith('.ts') ? `<script lang="ts">${code.replaceAll('</script', '<_script')}</script>` : code;
    const { module, instance, fragment } = parse(whole, { modern: true });
    for (const part of [module?.content, instance?.content, fragment]) this.visit(part);
  }

  report(text) {
    const words = text.trim().replace(/\s+/g, ' ');
    if (!names.has(words) && !/^\W*Agent Gateway\W*$|^</.test(words)) this.untranslated.push(`${this.path}: ${words}`);
  }

  visit(node) {
    if (Array.isArray(node)) for (const one of node) this.visit(one);
    else if (node && typeof node === 'object') (this[node.type] ?? this.visitOther).call(this, node);
  }

  visitOther(node) {
    if (node.type?.startsWith('TS')) return this.visit(node.expression);
    if (node.attributes && node.fragment) return this.element(node);
    for (const [key, value] of Object.entries(node)) if (key !== 'metadata' && key !== 'loc') this.visit(value);
  }

  element(node) {
    for (const attribute of node.attributes) {
      if (attribute.type !== 'Attribute') this.visit(attribute.expression);
      else this.attribute(attribute, node.type === 'Component');
    }
    if (!literalElements.has(node.name)) this.visit(node.fragment);
  }

  attribute({ name, value }, isComponent) {
    const isShown = (isComponent ? shownProperties : shownAttributes).has(name);
    for (const part of Array.isArray(value) ? value : [value]) {
      if (part?.type === 'Text') {
        if (
          isShown
            ? hasLetters(part.data) && !/^[\w.-]*[-/@][\w./@:-]*$|^\w+:\/\//.test(part.data)
            : isComponent && isWords(part.data)
        )
          this.report(part.data);
      } else if (isShown || isComponent || name.startsWith('on')) this.visit(part);
      else this.calls(part);
    }
  }

  /** In code that is not shown, such as a class, only the calls of `t` count. */
  calls(node) {
    const { untranslated } = this;
    this.untranslated = [];
    this.visit(node);
    this.untranslated = untranslated;
  }

  Text({ data }) {
    if (hasLetters(data)) this.report(data);
  }

  Literal({ value }) {
    if (typeof value === 'string' && isWords(value)) this.report(value);
  }

  TemplateLiteral({ quasis, expressions }) {
    if (quasis.some(({ value }) => / [a-z]{2,} |[a-z]{2}: |^[A-Z][a-z]+ /.test(value.raw)))
      this.report(quasis.map(({ value }) => value.raw).join('{}'));
    this.visit(expressions);
  }

  TaggedTemplateExpression({ quasi }) {
    this.visit(quasi.expressions);
  }

  CallExpression({ callee, arguments: given }) {
    const name = callee.property?.name ?? callee.name;
    if (name === 't' || name === 'tn') {
      this.message(name, given);
      given = given.filter(({ type }) => type !== 'Literal');
    } else this.visit(callee);
    for (const one of given) if (!literalCalls.has(name) || !/Literal|ArrayExpression/.test(one.type)) this.visit(one);
  }

  NewExpression(node) {
    this.CallExpression(node);
  }

  message(name, [one, many]) {
    const texts = name === 'tn' ? [one.value, many.value] : one.value;
    if (typeof one.value !== 'string') return this.report(`the argument of ${name} is not a literal`);
    const known = this.messages.get(one.value);
    if (known && JSON.stringify(known) !== JSON.stringify(texts)) this.report(`${one.value}: two plurals`);
    this.messages.set(one.value, texts);
  }

  BinaryExpression({ operator, left, right }) {
    for (const side of [left, right]) if (side.type !== 'Literal' || operator === '+') this.visit(side);
  }

  SwitchCase({ consequent }) {
    this.visit(consequent);
  }

  MemberExpression({ object, property }) {
    this.visit(object);
    if (property.type !== 'Literal') this.visit(property);
  }

  Property({ value }) {
    this.visit(value);
  }

  ImportDeclaration() {}
  ImportExpression() {}
  StyleSheet() {}
  Comment() {}
}

/** `messages`: the English texts, with their plurals; `untranslated`: texts that are shown without `t`. */
export function readStrings() {
  const reader = new Reader();
  const files = readdirSync(source, { recursive: true }).filter(
    (file) => /\.(svelte|ts)$/.test(file) && !/\.(test|d)\.ts$|^base.language|^diagrams\//.test(file),
  );
  for (const file of files.sort()) reader.file(file, readFileSync(new URL(file, source), 'utf8'));
  const sorted = [...reader.messages].sort(([a], [b]) => (a < b ? -1 : 1));
  return { messages: Object.fromEntries(sorted), untranslated: reader.untranslated };
}

export const written = (messages) => `${JSON.stringify(messages, null, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(catalogue('en'), written(readStrings().messages));
