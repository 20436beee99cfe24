/** Experiments as the gateway tells of them. */
export type Verdict = 'keep' | 'discard' | 'crash';

export interface Experiment {
  id: string;
  domain: string;
  verdict: Verdict;
  metric: string | null;
  value: number | null;
  baseline: number | null;
  delta: number | null;
  unit: string | null;
  higher_is_better: boolean | null;
  proposal: string | null;
  reason: string | null;
  notes: string | null;
  duration_ms: number | null;
  cost_usd: number | null;
  created_at: string;
}

export interface Confidence {
  confidence: { confidence: number; sampleSize: number; mad: number };
  consecutiveDiscards: number;
}

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
