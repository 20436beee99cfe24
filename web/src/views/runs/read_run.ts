/** Reads the turns of one run. */
import { apiPath, get } from '../../api/client';
import type { ThreadDetail, Turn } from '../../api/types';
import { answerData, toolData } from '../../state/timeline';

export interface RunTurns {
  thread: ThreadDetail;
  /** null while the run is active, or if the run is not in this thread. */
  answer: Turn | null;
  /** Oldest first. */
  tools: Turn[];
  isActive: boolean;
}

const answersAtOnce = 200;
const turnsAtOnce = 1000;

/** The start of a run in milliseconds since 1970. Run ids are UUIDv7, which begin with it; others belong to no run. */
const beganAt = (id: string): number => parseInt(id.replace('-', '').slice(0, 12), 16);

async function findAnswer(path: string, run: string): Promise<Turn | null> {
  let before: string | undefined;
  for (;;) {
    const page = await get<Turn[]>(path, { role: 'assistant', limit: answersAtOnce, before });
    const found = page.find((turn) => answerData(turn).run_id === run);
    const last = page.at(-1);
    const mayBeOlder = last && page.length === answersAtOnce && Date.parse(last.created_at) >= beganAt(run);
    if (found || !mayBeOlder) return found ?? null;
    before = last.id;
  }
}

/** Filters the tool turns on this page: the gateway filters only by the roles user and assistant. */
async function toolsBefore(path: string, answer: Turn, run: string): Promise<Turn[]> {
  const all: Turn[] = [];
  let before = answer.id;
  for (;;) {
    const page = await get<Turn[]>(path, { limit: turnsAtOnce, before });
    all.push(...page.filter((turn) => turn.role === 'tool' && toolData(turn).run_id === run));
    const last = page.at(-1);
    if (!last || page.length < turnsAtOnce || Date.parse(last.created_at) < beganAt(run)) return all.reverse();
    before = last.id;
  }
}

export async function readRun(threadId: string, run: string): Promise<RunTurns> {
  const path = apiPath`/threads/${threadId}/turns`;
  const [thread, answer] = await Promise.all([get<ThreadDetail>(apiPath`/threads/${threadId}`), findAnswer(path, run)]);
  const active = (thread.active_run as { runId?: string } | null)?.runId === run;
  return { thread, answer, tools: answer ? await toolsBefore(path, answer, run) : [], isActive: active };
}
