/** Advice from a domain's measurements. */
import type { Confidence } from '../../api/types';

const certain = 9999;
const enoughToStop = 3;
const clearlyMore = 2;

/** One line on whether to continue. */
export function advice({ confidence: { confidence, sampleSize }, consecutiveDiscards }: Confidence): string {
  if (consecutiveDiscards >= enoughToStop)
    return `${consecutiveDiscards} in a row brought no improvement: stop or try something else.`;
  if (sampleSize < 3) return 'Too few measurements yet.';
  if (confidence >= certain) return 'The measurements do not vary: any gain is real.';
  if (confidence >= clearlyMore) return `The best result is ${confidence.toFixed(1)} times the noise: continue.`;
  return 'The gains so far could be chance: measure again or continue.';
}
