/** The events after which pages may have changed: jobs compile pages, and applied proposals write them. */
export const knowledgeEvents = ['job-finished', 'proposal-decided'] as const;
