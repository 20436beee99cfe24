/**
 * The language of the page. English text stands in the source, in calls of `t` and `tn`; `languages/de.json` has the
 * German ones by the English, and is fetched only if German is chosen. A change of the language needs a reload.
 */
import german from '../languages/de.json?url';
import { stored } from './storage';

/** What is null or undefined is left out. */
type Values = Record<string, string | number | null | undefined>;

/** A choice of a person's; undefined follows the browser. */
export type Language = 'en' | 'de';

export const chosenLanguage = stored<Language | undefined>('language', undefined);

const wanted = globalThis.navigator?.languages ?? [];
const best = wanted.map((tag) => tag.slice(0, 2)).find((tag) => tag === 'de' || tag === 'en');
export const language: Language = chosenLanguage ?? (best as Language) ?? 'en';

/** For `Intl`: the language, with the browser's region if it has one, such as `en-GB`. */
export const locale = wanted.find((tag) => tag.startsWith(language)) ?? language;

/**
 * Synchronously, for German only: constants of modules are translated when they are evaluated, before which there is
 * nothing to paint. Waiting at the top level would make every module that imports this one wait, and the chat a request.
 */
function fetched(): Record<string, string | string[]> {
  try {
    const request = new XMLHttpRequest();
    request.open('GET', german, false);
    request.send();
    return JSON.parse(request.responseText) as Record<string, string | string[]>;
  } catch (error) {
    console.warn('German could not be read:', error);
    return {};
  }
}

const translations = language === 'de' ? fetched() : {};

const fill = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => `${values[name] ?? ''}`);

/** `text` in the page's language; `{name}` stands for a value. Arguments are literals, for `script/strings.mjs`. */
export const t = (text: string, values?: Values): string => {
  const translated = (translations[text] as string | undefined) ?? text;
  return values ? fill(translated, values) : translated;
};

/** `one` if `number` is 1, else `many`, which is filled in with it as `{count}`. */
export const tn = (one: string, many: string, number: number, values?: Values): string => {
  const forms = translations[one] ?? [one, many];
  const count = Number.isInteger(number) && Math.abs(number) < 1000 ? number : number.toLocaleString(locale);
  return fill(forms[number === 1 ? 0 : 1] ?? many, { count, ...values });
};

/** A name within a sentence: German nouns keep their capital. */
export const midSentence = (name: string): string => (language === 'de' ? name : name.toLowerCase());

/**
 * The HTML of a component's template in the page's language. Texts without values are not called for one by one: the
 * build writes them into the templates (`script/static_strings.js`), and Svelte reads those through this function.
 */
export const localized = (html: string): string =>
  language === 'en'
    ? html
    : html.replace(
        /(>\s*|(?:aria-label|title|placeholder)=")([^<>"]+?)(?=\s*[<"])/g,
        (_, before: string, text: string) => before + t(text),
      );
