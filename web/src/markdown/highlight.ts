/** Syntax highlighting. The only HTML put into the page comes from the highlighter, which escapes its input. */
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import '../styles/highlight.css';

const languages = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

interface Policy {
  createHTML(html: string): string;
  createScriptURL(address: string): string;
}
interface PolicyFactory {
  createPolicy(name: string, rules: Policy): Policy;
}

/** The only script besides the page's own: the worker that shows notifications (views/system/push). */
export const workerAddress = '/ui/worker.js';
const rules: Policy = { createHTML: (html) => html, createScriptURL: () => workerAddress };
const { trustedTypes } = window as { trustedTypes?: PolicyFactory };
/** The page's only Trusted Types policy, as named in its Content-Security-Policy. */
export const policy: Policy = trustedTypes?.createPolicy('agw-highlight', rules) ?? rules;

export function highlight(element: HTMLElement, text: string, language: string): void {
  if (!hljs.getLanguage(language)) return;
  element.innerHTML = policy.createHTML(hljs.highlight(text, { language, ignoreIllegals: true }).value);
}
