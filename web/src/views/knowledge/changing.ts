/** The events behind which pages may have changed: jobs compile them, applied proposals write them. */
export const changing = ['job-finished', 'proposal-decided'] as const;
