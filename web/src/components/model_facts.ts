/** What people choose models by, in words. */
import type { ModelInfo } from '../api/types';

/** What lists of models show. A service that was only checked may not say all of it. */
export type ListedModel = Pick<ModelInfo, 'id'> & Partial<Omit<ModelInfo, 'id'>>;

/** `128k`, `1M`: tokens, as vendors write them. */
export function tokens(count: number): string {
  const binary = count % 1024 === 0 && count % 1000 !== 0;
  const thousands = Math.round(count / (binary ? 1024 : 1000));
  if (thousands < 1) return `${count}`;
  const millions = thousands / (binary ? 1024 : 1000);
  return millions >= 1 ? `${Number(millions.toFixed(1))}M` : `${thousands}k`;
}

const dollars = (usd: number): string => `$${Number(usd.toFixed(usd < 0.1 ? 3 : 2))}`;

export function priceOf({ price }: ListedModel): string {
  if (!price) return 'price unknown';
  return price.input || price.output ? `${dollars(price.input)} in, ${dollars(price.output)} out` : 'free';
}

/** `200k context · $3 in, $15 out · pictures · tools`; prices are per million tokens. */
export function factsOf(model: ListedModel): string {
  return [
    model.context_window ? `${tokens(model.context_window)} context` : '',
    priceOf(model),
    model.vision ? 'pictures' : '',
    model.tools === false ? 'no tools' : model.tools ? 'tools' : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

/** Models whose name or abilities match the words, best first; without words in the given order. */
export function matching<T extends ListedModel>(words: string, all: T[]): T[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (model: T): string => `${model.id} ${factsOf(model)}`.toLowerCase();
  return all.filter((model) => wanted.every((word) => text(model).includes(word)));
}
