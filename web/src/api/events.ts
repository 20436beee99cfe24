/** The gateway's WebSocket events that the page handles. Unknown types are ignored. */
import type {
  AppState,
  Attachment,
  Experiment,
  Extension,
  JobRun,
  PermissionRequest,
  ProposalEntry,
  Signal,
  Thread,
  ThreadTask,
  Turn,
  Usage,
} from './types';

interface OfRun {
  threadId: string;
  turnId: string;
  runId: string;
  seq: number;
}

export type RunEvent = OfRun &
  (
    | { type: 'text-delta' | 'reasoning-delta'; delta: string }
    | { type: 'tool-start'; toolCallId: string; toolName: string; input: unknown }
    | {
        type: 'tool-end';
        toolCallId: string;
        toolName: string;
        output: string;
        isError: boolean;
        durationMs: number;
        pictures?: Attachment[];
      }
    /** `turnId` is the message that joined the answer. */
    | { type: 'steered'; afterStep: number }
    | { type: 'error'; error: string }
    | {
        type: 'finish';
        finishReason: string;
        assistantTurnId: string | null;
        model: string;
        usage: Usage;
        costUsd: number;
        durationMs: number;
      }
    | { type: 'stopped'; assistantTurnId: string | null }
    | { type: 'permission-requested'; request: PermissionRequest }
    | ({ type: 'permission-decided'; requestId: string } & Pick<PermissionRequest, 'decision' | 'scope' | 'by'>)
  );

/** An active run, in the reply to a subscription. */
export interface RunSnapshot {
  runId: string;
  turnId: string;
  threadId: string;
  seq: number;
  text: string;
  reasoning: string;
  tools: unknown[];
}

export type GatewayEvent =
  | RunEvent
  /** A run starts; it may have been queued behind others of its thread. */
  | { type: 'run-started'; threadId: string; run: { runId: string; turnId: string; threadId: string } }
  | { type: 'subscribed'; threadIds: string[]; runs?: RunSnapshot[] }
  | { type: 'pong' }
  /** Emitted by the page itself: events may have been missed, so all data must be read again. */
  | { type: 'reconnected' }
  | { type: 'thread-deleted'; threadId: string }
  | { type: 'turn-created'; threadId: string; turn: Turn }
  | { type: 'thread-updated'; threadId: string; thread: Thread }
  | { type: 'tasks-updated'; threadId: string; runId: string; tasks: ThreadTask[] }
  /** `threadId` is null if the run could not start. */
  | { type: 'job-started' | 'job-finished'; threadId: string | null; run: JobRun }
  | {
      type: 'extension-changed';
      action: 'created' | 'updated' | 'deleted';
      id: string;
      name: string;
      extensionType: Extension['type'];
      enabled: boolean;
    }
  | { type: 'proposal-created' | 'proposal-decided'; proposal: ProposalEntry }
  | { type: 'app-status'; app: AppState }
  | { type: 'signal'; signal: Signal }
  | { type: 'iteration-step'; iterationId: string; domain: string; step: string; experiment: Experiment | null };

const runKinds = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-start',
  'tool-end',
  'steered',
  'error',
  'finish',
  'stopped',
  'permission-requested',
  'permission-decided',
]);

export function isRunEvent(event: GatewayEvent): event is RunEvent {
  return runKinds.has(event.type) && 'runId' in event;
}
