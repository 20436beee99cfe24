import { expect, test } from 'vitest';
import { csvOf } from './csv';
import type { WholeReport } from './report';

const report: WholeReport = {
  today: 1,
  week: 1,
  month: 1,
  saved: 0,
  cached: null,
  by_agent: [{ agent_id: 'a', name: 'bard', cost: 0.5 }],
  by_model: [{ model: 'stub/one', cost: 1e-7 }],
  unpriced: [],
  days: [{ date: '2026-11-24', cost: 0 }],
  by_thread: [
    { thread_id: 't', title: '=HYPERLINK("evil")', cost: -1 },
    { thread_id: 'gone', title: null, cost: 2 },
  ],
  by_job: [{ job_id: 'j', name: 'digest', cost: 4 }],
  budget: null,
  by_client: [{ client: 'codex, "new"', cost: 3 }],
};

test('each sum is a row, with quotes where necessary, and never a formula', () => {
  expect(csvOf(report, 'week').split('\r\n')).toEqual([
    'by,name,period,usd',
    'day,2026-11-24,2026-11-24,0',
    'agent,bard,week,0.5',
    'model,stub/one,week,1e-7',
    'program,"codex, ""new""",week,3',
    'job,digest,week,4',
    `chat,"'=HYPERLINK(""evil"")",week,-1`,
    'chat,gone,week,2',
    '',
  ]);
});
