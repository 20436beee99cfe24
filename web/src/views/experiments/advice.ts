/** What the numbers of a domain say. */
import type { Confidence } from '../../api/types';

const certain = 9999;
const enoughToStop = 3;
const clearlyMore = 2;

/** One line that says whether to go on. */
export function advice({ confidence: { confidence, sampleSize }, consecutiveDiscards }: Confidence): string {
  if (consecutiveDiscards >= enoughToStop) return `${consecutiveDiscards} in a row gave nothing: stop, or try something else.`;
  if (sampleSize < 3) return 'Too few measurements to say anything.';
  if (confidence >= certain) return 'The measurements do not vary: any gain is real.';
  if (confidence >= clearlyMore) return `The best stands out ${confidence.toFixed(1)} times above the noise: go on.`;
  return 'The gains so far could be chance: measure again, or go on.';
}
