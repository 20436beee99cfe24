/** The facts by which people choose a model, in words. */
import type { ModelInfo } from '../api/types';
import { t } from '../base/language';

/** The data shown in lists of models. A service that is checked before it is added may not report all of it. */
export type ListedModel = Pick<ModelInfo, 'id'> & Partial<Omit<ModelInfo, 'id'>>;

/** `128k`, `1M`: numbers of tokens, as vendors write them. */
export function tokens(count: number): string {
  const binary = count % 1024 === 0 && count % 1000 !== 0;
  const thousands = Math.round(count / (binary ? 1024 : 1000));
  if (thousands < 1) return `${count}`;
  const millions = thousands / (binary ? 1024 : 1000);
  return millions >= 1 ? `${Number(millions.toFixed(1))}M` : `${thousands}k`;
}

const dollars = (usd: number): string => `$${Number(usd.toFixed(usd < 0.1 ? 3 : 2))}`;

export function priceOf({ price }: ListedModel): string {
  if (!price) return t('price unknown');
  return price.input || price.output
    ? t('{input} in, {output} out', { input: dollars(price.input), output: dollars(price.output) })
    : t('free');
}

/** `200k context · $3 in, $15 out · pictures · tools`; prices are per million tokens. */
export function factsOf(model: ListedModel): string {
  return [
    model.context_window ? t('{tokens} context', { tokens: tokens(model.context_window) }) : '',
    priceOf(model),
    model.vision ? t('pictures') : '',
    model.tools === false ? t('no tools') : model.tools ? t('tools') : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The models whose name and facts contain all words, in the given order. */
export function matching<T extends ListedModel>(words: string, all: T[]): T[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (model: T): string => `${model.id} ${factsOf(model)}`.toLowerCase();
  return all.filter((model) => wanted.every((word) => text(model).includes(word)));
}
