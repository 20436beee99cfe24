/** A week of jobs: what ran, what did not and why, and what is due. */
import type { JobRun, JobSummary } from '../../api/types';

export interface Entry {
  key: string;
  job: string;
  /** Milliseconds since 1970. */
  at: number;
  /** null for what is due. */
  run: JobRun | null;
  /** How many times of the day this entry stands for. */
  times: number;
}

export interface Day {
  /** Its midnight, in milliseconds since 1970. */
  at: number;
  entries: Entry[];
}

const daysInWeek = 7;
/** More times of a job in a day are shown as one entry. */
const maxTimes = 4;

/** The Monday of the week of a time, `weeks` later. */
export function mondayOf(time: number, weeks = 0): number {
  const date = new Date(time);
  date.setHours(0, 0, 0, 0);
  const sinceMonday = (date.getDay() + 6) % daysInWeek;
  return date.setDate(date.getDate() - sinceMonday + weeks * daysInWeek);
}

/** The midnights of a week, and of the day after it: days are not all of one length. */
export function midnightsFrom(monday: number): number[] {
  return Array.from({ length: daysInWeek + 1 }, (_, i) => {
    const date = new Date(monday);
    return date.setDate(date.getDate() + i);
  });
}

const timeOf = ({ due_at: due, started_at: started, finished_at: finished }: JobRun): number =>
  Date.parse(due ?? started ?? finished ?? '');

/** `due`: the times that are still to come, by the job's name. */
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

/** Many times of the same kind become one; those that went wrong stay. */
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
