/** What agents wait for a person to decide: permission requests and questions, in all chats. */
import { get } from '../api/client';
import type { GatewayEvent } from '../api/events';
import { socket } from '../api/socket.svelte';
import type { PermissionRequest } from '../api/types';
import { announcer } from '../base/announce.svelte';
import { router } from '../base/router.svelte';
import { t } from '../base/language';

class Approvals {
  /** Oldest first. What was decided elsewhere stays, with the decision, until its run ends. */
  all = $state.raw<PermissionRequest[]>([]);
  /** The chats in which somebody waits. */
  threads = $derived(new Set(this.all.filter(({ decision }) => !decision).map(({ thread_id: id }) => id)));
  /** Changes by events since the latest read began. */
  #arrived = new Set<string>();
  #decided = new Map<string, Partial<PermissionRequest>>();
  #asked = 0;

  constructor() {
    socket.listen((event) => this.#take(event));
  }

  /** Requests without an event: those from before this page was open, or connected. */
  load = async (): Promise<void> => {
    const asked = ++this.#asked;
    this.#arrived.clear();
    try {
      const read = await get<PermissionRequest[]>('/permissions');
      if (asked !== this.#asked) return;
      const isRead = new Set(read.map(({ id }) => id));
      const kept = this.all.filter(({ id, decision }) => !isRead.has(id) && (decision || this.#arrived.has(id)));
      this.all = [...read.map((one) => ({ ...one, ...this.#decided.get(one.id) })), ...kept];
    } catch (error) {
      console.warn('approvals could not be read:', error);
    }
  };

  /** Removes a request that was decided on this page, or whose decision has been read. */
  drop(id: string): void {
    this.all = this.all.filter((request) => request.id !== id);
  }

  #take(event: GatewayEvent): void {
    if (event.type === 'permission-requested') this.#add(event.request);
    else if (event.type === 'permission-decided') this.#close(event);
    else if (event.type === 'finish' || event.type === 'stopped') this.#end(event.runId);
    else if (event.type === 'reconnected' || (event.type === 'subscribed' && event.runs?.length)) void this.load();
  }

  #add(request: PermissionRequest): void {
    this.#arrived.add(request.id);
    if (this.#decided.has(request.id) || this.all.some(({ id }) => id === request.id)) return;
    this.all = [...this.all, request];
    // In its own chat the request is an alert itself.
    if (router.route.path[1] !== request.thread_id)
      announcer.say(
        request.kind === 'question'
          ? t('{agent} asks you in another chat.', { agent: request.agent })
          : t('{agent} asks for permission in another chat.', { agent: request.agent }),
      );
  }

  #close({ requestId, decision, scope, by }: GatewayEvent & { type: 'permission-decided' }): void {
    const outcome = { decision, scope, by };
    this.#decided.set(requestId, outcome);
    this.all = this.all.map((request) => (request.id === requestId ? { ...request, ...outcome } : request));
  }

  #end(runId: string): void {
    if (this.all.some(({ run_id: id }) => id === runId)) this.all = this.all.filter(({ run_id: id }) => id !== runId);
  }
}

export const approvals = new Approvals();
