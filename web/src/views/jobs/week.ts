/** A week of jobs: their runs, including failed and skipped ones, and their due times. */
import type { JobRun, JobSummary } from '../../api/types';

export interface Entry {
  key: string;
  job: string;
  /** Milliseconds since 1970. */
  at: number;
  /** null for a due time. */
  run: JobRun | null;
  /** The number of runs or due times that this entry represents. */
  times: number;
}

export interface Day {
  /** The midnight at the beginning of the day, in milliseconds since 1970. */
  at: number;
  entries: Entry[];
}

const daysInWeek = 7;
/** More equal entries of a job in a day are folded into one. */
const maxTimes = 4;

/** The midnight of the Monday in the week of `time`, plus `weeks`. */
export function mondayOf(time: number, weeks = 0): number {
  const date = new Date(time);
  date.setHours(0, 0, 0, 0);
  const sinceMonday = (date.getDay() + 6) % daysInWeek;
  return date.setDate(date.getDate() - sinceMonday + weeks * daysInWeek);
}

/** The midnights of the days of a week, and of the day after it. Computed, because days differ in length. */
export function midnightsFrom(monday: number): number[] {
  return Array.from({ length: daysInWeek + 1 }, (_, i) => {
    const date = new Date(monday);
    return date.setDate(date.getDate() + i);
  });
}

const timeOf = ({ due_at: due, started_at: started, finished_at: finished }: JobRun): number =>
  Date.parse(due ?? started ?? finished ?? '');

/** `due`: future times by job name. */
export function weekOf(monday: number, jobs: JobSummary[], runs: JobRun[], due: Record<string, string[]>): Day[] {
  const ran = runs.map((run): Entry => ({ key: run.id, job: run.job, at: timeOf(run), run, times: 1 }));
  const coming = jobs.flatMap(({ name }) =>
    (due[name] ?? []).map((at): Entry => ({
      key: `${name} ${at}`,
      job: name,
      at: Date.parse(at),
      run: null,
      times: 1,
    })),
  );
  const all = [...ran, ...coming].filter(({ at }) => Number.isFinite(at)).sort((a, b) => a.at - b.at);
  const midnights = midnightsFrom(monday);
  return midnights.slice(0, daysInWeek).map((from, i) => {
    const until = midnights[i + 1] ?? Infinity;
    return { at: from, entries: folded(all.filter(({ at }) => at >= from && at < until)) };
  });
}

/** Folds more than `maxTimes` entries with the same job, status and error into one. Failures keep separate entries. */
function folded(entries: Entry[]): Entry[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const kind = kindOf(entry);
    const group = groups.get(kind);
    if (group) group.push(entry);
    else groups.set(kind, [entry]);
  }
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      return group.length > maxTimes && first ? [{ ...first, times: group.length }] : group;
    })
    .sort((a, b) => a.at - b.at);
}

const kindOf = ({ job, run }: Entry): string => `${job} ${run ? run.status : 'due'} ${run?.error ?? ''}`;
