/** The events after which pages may have changed: jobs compile them, applied proposals write them. */
export const knowledgeEvents = ['job-finished', 'proposal-decided'] as const;
