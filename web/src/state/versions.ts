/**
 * The versions of a thread. Answering a question again supersedes all turns after the question; editing it also
 * supersedes the question itself. Superseded turns stay in the thread. From the order of insertion, this module derives
 * the places where the thread branches, and the turns of the chosen branches.
 */
import type { Turn } from '../api/types';
import { answerData, answerKey, editedFrom, isSuperseded } from './timeline';

/** Where a thread branches: `again:<question>` after a question, `edited:<its first version>` before a question. */
type Place = string;

/** The index of the chosen branch by place, from 0. Without an entry, the latest branch is chosen. */
export type Choices = ReadonlyMap<Place, number>;

export interface Version {
  place: Place;
  /** From 0. */
  index: number;
  count: number;
}

export interface Versions {
  /** The turns of the chosen branches, oldest first. */
  shown: Turn[];
  /** The versions of a question, by the id of the shown version. */
  edits: Map<string, Version>;
  /** The versions of an answer, by the id of its question. */
  answers: Map<string, Version>;
  /** Whether an older branch is shown. */
  isEarlier: boolean;
  /** The choices that show a turn. */
  choicesFor: (turnId: string) => Choices;
}

type Run = { runId: string; turnId: string };

/** The first version of an edited question, by the id of each later one. */
function firstVersions(turns: Turn[]): Map<string, string> {
  const first = new Map<string, string>();
  for (const turn of turns) {
    const edited = editedFrom(turn);
    if (edited) first.set(turn.id, first.get(edited) ?? edited);
  }
  return first;
}

class Tree {
  /** The older branches by place, each until the end of the thread. */
  readonly older = new Map<Place, Turn[][]>();
  /** The positions of the turns in older branches. `anchor`: a turn that is shown whenever the place is. */
  readonly placed = new Map<string, { place: Place; index: number; anchor: string }>();
  /** The turns of the latest branches. */
  latest: Turn[] = [];
  /** The question's id by the key of its answer. */
  readonly #questions: Map<string, string>;

  constructor(turns: Turn[], live: Run[], first: Map<string, string>) {
    const questions = new Map(live.map(({ runId, turnId }) => [`run:${runId}`, turnId]));
    this.#questions = questions;
    for (const turn of turns) {
      const question = turn.role === 'assistant' ? answerData(turn).in_reply_to : undefined;
      if (question) questions.set(answerKey(turn), question);
    }
    const answered = new Map<string, Turn>();
    for (const turn of turns) {
      const edited = editedFrom(turn);
      const question = this.#questionOf(turn);
      if (edited) this.#branch(`edited:${first.get(turn.id)}`, this.#findVersion(first, turn.id), turn.id);
      else if (question) {
        const before = answered.get(question);
        if (before && isSuperseded(before) && answerKey(before) !== answerKey(turn))
          this.#branch(`again:${question}`, this.#find(question) + 1, question);
        answered.set(question, turn);
      }
      this.latest.push(turn);
    }
    this.#setAsideUnreplaced();
  }

  #questionOf(turn: Turn): string | undefined {
    return turn.role === 'assistant' || turn.role === 'tool' ? this.#questions.get(answerKey(turn)) : undefined;
  }

  #find = (id: string): number => this.latest.findLastIndex((turn) => turn.id === id);

  /** The latest version before this one, which need not be the one that was edited. */
  #findVersion(first: Map<string, string>, id: string): number {
    const wanted = first.get(id);
    return this.latest.findLastIndex((turn) => turn.role === 'user' && (first.get(turn.id) ?? turn.id) === wanted);
  }

  /**
   * Moves the turns from `at` up to `end` into an older branch. A question that waited in the queue is stored before the
   * answer to the one before it. That answer stays, before the place.
   */
  #branch(place: Place, at: number, anchor: string, end = this.latest.length): void {
    // The question has not been read yet, or was deleted.
    if (at < 0 || (at === 0 && place.startsWith('again:'))) return;
    const branches = this.older.get(place) ?? [];
    const start = place.startsWith('again:') ? at - 1 : at;
    const before = new Set(this.latest.slice(0, start).map(({ id }) => id));
    const staying: Turn[] = [];
    const moved: Turn[] = [];
    for (const turn of this.latest.splice(at, end - at))
      (before.has(this.#questionOf(turn) ?? '') ? staying : moved).push(turn);
    this.latest.splice(start, 0, ...staying);
    for (const { id } of moved)
      if (!this.placed.has(id)) this.placed.set(id, { place, index: branches.length, anchor });
    this.older.set(place, [...branches, moved]);
  }

  /**
   * Moves turns that were superseded without a newer version into older branches: the newer version was deleted, or has
   * not begun. Without a question before them, the turns are dropped.
   */
  #setAsideUnreplaced(): void {
    for (;;) {
      const at = this.latest.findIndex(isSuperseded);
      if (at < 0) return;
      const next = this.latest.findIndex((turn, i) => i > at && !isSuperseded(turn));
      const end = next < 0 ? this.latest.length : next;
      const question = this.latest[at - 1];
      if (question?.role === 'user') this.#branch(`again:${question.id}`, at, question.id, end);
      else this.latest.splice(at, end - at);
    }
  }
}

/** The choices that lead to a turn. */
function choicesFor(tree: Tree, turnId: string): Choices {
  const found = new Map<Place, number>();
  for (let at = tree.placed.get(turnId); at && !found.has(at.place); at = tree.placed.get(at.anchor))
    found.set(at.place, at.index);
  return found;
}

/** `turns`: oldest first. `live`: the active runs and the turns that they answer. */
export function versionsOf(turns: Turn[], live: Run[], choices: Choices): Versions {
  const first = firstVersions(turns);
  const tree = new Tree(turns, live, first);
  const result: Versions = {
    shown: [],
    edits: new Map(),
    answers: new Map(),
    isEarlier: false,
    choicesFor: (turnId) => choicesFor(tree, turnId),
  };
  const decided = new Set<Place>();
  let rest = tree.latest;
  /** Records the versions at a place, and follows the chosen one. Returns whether `rest` was replaced. */
  const follow = (place: Place, note: (version: Version) => void): boolean => {
    const branches = tree.older.get(place);
    if (!branches) return false;
    const index = Math.min(choices.get(place) ?? branches.length, branches.length);
    note({ place, index, count: branches.length + 1 });
    const branch = branches[index];
    if (decided.has(place) || !branch) return false;
    decided.add(place);
    result.isEarlier = true;
    rest = branch;
    return true;
  };
  for (let i = 0; i < rest.length; i++) {
    const turn = rest[i] as Turn;
    if (turn.role !== 'user') {
      result.shown.push(turn);
      continue;
    }
    if (follow(`edited:${first.get(turn.id) ?? turn.id}`, (version) => result.edits.set(turn.id, version))) {
      i = -1;
      continue;
    }
    result.shown.push(turn);
    if (follow(`again:${turn.id}`, (version) => result.answers.set(turn.id, version))) i = -1;
  }
  return result;
}
