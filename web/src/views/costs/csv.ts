/** Costs as CSV for spreadsheets. */
import type { WholeReport } from './report';

/** Formats a cell by RFC 4180. A quote before text that begins like a formula keeps spreadsheets from running it. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : `${value}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One row for each sum. `period`: the period of all sums except those by day. */
export function csvOf(report: WholeReport, period: string): string {
  const rows: (string | number)[][] = [
    ['by', 'name', 'period', 'usd'],
    ...report.days.map(({ date, cost }) => ['day', date, date, cost]),
    ...report.by_agent.map(({ name, cost }) => ['agent', name, period, cost]),
    ...report.by_model.map(({ model, cost }) => ['model', model, period, cost]),
    ...report.by_client.map(({ client, cost }) => ['program', client, period, cost]),
    ...report.by_job.map(({ job_id: id, name, cost }) => ['job', name ?? id, period, cost]),
    ...report.by_thread.map(({ thread_id: id, title, cost }) => ['chat', title ?? id, period, cost]),
  ];
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
