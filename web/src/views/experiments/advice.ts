/** Advice from a domain's measurements. */
import type { Confidence } from '../../api/types';
import { t } from '../../base/language';

const certain = 9999;
const enoughToStop = 3;
const clearlyMore = 2;

/** One sentence on whether to continue. */
export function advice({ confidence: { confidence, sampleSize }, consecutiveDiscards }: Confidence): string {
  if (consecutiveDiscards >= enoughToStop)
    return t('{discards} in a row brought no improvement: stop or try something else.', {
      discards: consecutiveDiscards,
    });
  if (sampleSize < 3) return t('Too few measurements yet.');
  if (confidence >= certain) return t('The measurements do not vary: any gain is real.');
  if (confidence >= clearlyMore)
    return t('The best result is {factor} times the noise: continue.', { factor: confidence.toFixed(1) });
  return t('The gains so far could be chance: measure again or continue.');
}
