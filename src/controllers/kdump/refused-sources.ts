import { KDUMP_ADDRESSES } from '../../domain/kdump/record.ts';
import type { Refusal } from './sources.ts';

/** So long one refusal is told: another takes its place then, so that no flood of sources is a flood of words. */
const TOLD_MS = 600_000;
const NAMED_MAX = 3;

type Problem = Refusal['problem'];

/** Well-formed messages that are of no node, for people: one of each kind at a time. A dump that nobody can tell whose it is would else be cut in silence. */
export class RefusedSources {
  readonly #told = new Map<Problem, { words: string; atMs: number }>();

  add({ problem, nodes = [] }: Refusal, from: string, nowMs: number): void {
    const told = this.#told.get(problem);
    if (told === undefined || nowMs - told.atMs >= TOLD_MS) this.#told.set(problem, { words: wordsOf(problem, nodes, from), atMs: nowMs });
  }

  problems(nowMs: number): string[] {
    for (const [problem, { atMs }] of [...this.#told]) if (nowMs - atMs >= TOLD_MS) this.#told.delete(problem);
    return [...this.#told.values()].map(({ words }) => words);
  }
}

function wordsOf(problem: Problem, nodes: readonly string[], from: string): string {
  const named = [...nodes.slice(0, NAMED_MAX), ...(nodes.length > NAMED_MAX ? ['...'] : [])].join(', ');
  switch (problem) {
    case 'unknown-source':
      return `kdump messages came from ${from}, which is the address of no Node, and hold nothing: if a crash kernel sends from there, write it into the annotation ${KDUMP_ADDRESSES} of its Node`;
    case 'ambiguous-source':
      return `kdump messages came from ${from}, an address of the Nodes ${named}, and hold nothing: let each crash kernel send from an address of its own, in the annotation ${KDUMP_ADDRESSES} of its Node`;
    case 'pod-network':
      return `kdump messages came from ${from}, which is in the network of pods, and hold nothing: if a crash kernel sends from there, give it an address outside of all podCIDRs`;
  }
}
