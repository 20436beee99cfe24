import { expect, test } from 'vitest';
import type { JobRun, JobSummary } from '../../api/types';
import { mondayOf, weekOf } from './week';

const job = { name: 'digest' } as JobSummary;
const run = (id: string, members: Partial<JobRun>): JobRun =>
  ({
    id,
    job: 'digest',
    status: 'completed',
    due_at: null,
    started_at: null,
    finished_at: null,
    error: null,
    ...members,
  }) as JobRun;

test('a week begins on Monday', () => {
  expect(new Date(mondayOf(new Date('2026-11-24T13:00:00').getTime())).getDate()).toBe(23);
  expect(new Date(mondayOf(new Date('2026-11-29T13:00:00').getTime())).getDate()).toBe(23);
  expect(new Date(mondayOf(new Date('2026-11-24T13:00:00').getTime(), 1)).getDate()).toBe(30);
});

test('runs and due times are listed under their days, in order', () => {
  const monday = mondayOf(new Date('2026-11-24T13:00:00').getTime());
  const week = weekOf(
    monday,
    [job],
    [run('late', { started_at: '2026-11-23T10:00:00' }), run('early', { due_at: '2026-11-23T08:00:00' })],
    { digest: ['2026-11-25T08:00:00', '2026-12-01T08:00:00'] },
  );
  expect(week.map(({ entries }) => entries.map(({ key }) => key))).toEqual([
    ['early', 'late'],
    [],
    ['digest 2026-11-25T08:00:00'],
    [],
    [],
    [],
    [],
  ]);
});

test('many times of a day are one entry, except runs with another outcome', () => {
  const monday = mondayOf(new Date('2026-11-24T13:00:00').getTime());
  const often = Array.from({ length: 9 }, (_, i) => run(`${i}`, { started_at: `2026-11-24T0${i}:00:00` }));
  const failed = run('failed', { started_at: '2026-11-24T05:30:00', status: 'failed', error: 'no' });
  const [, tuesday] = weekOf(monday, [job], [...often, failed], {});
  expect(tuesday?.entries.map(({ key, times }) => [key, times])).toEqual([
    ['0', 9],
    ['failed', 1],
  ]);
});
