import type { Action, Decision, ObjectRef } from './actions.ts';
import type { PreservationCache } from './cache.ts';
import { linkOf } from './links.ts';
import { keyOf } from './watched-facts.ts';

/** Actions about one subject, in the order in which they must be done: where one fails, those after it wait for the next decision. */
export interface Chain {
  /** Link of the subject; no two chains of one key run at a time. */
  key: string;
  actions: Action[];
  premise: Premise;
}

/** What a decision about one subject was made from: its Machine, its Node and its fence. Our own writes renew it, anybody else's end it. */
export class Premise {
  readonly #cache: PreservationCache;
  readonly #facts = new Map<string, { target: ObjectRef; facts: unknown }>();
  readonly #node: string | undefined;
  readonly #proof: unknown;

  /** `uid` of the targets does not count here. */
  constructor(cache: PreservationCache, targets: readonly ObjectRef[], node: string | undefined) {
    this.#cache = cache;
    this.#node = node;
    this.#proof = node === undefined ? undefined : cache.proofOf(node);
    for (const target of targets) this.renew(target);
  }

  renew(target: ObjectRef): void {
    this.#facts.set(linkOf(target), { target, facts: this.#cache.factsOf(target) });
  }

  stands(): boolean {
    if (this.#node !== undefined && this.#cache.proofOf(this.#node) !== this.#proof) return false;
    return [...this.#facts.values()].every(({ target, facts }) => this.#cache.factsOf(target) === facts);
  }
}

interface Subject {
  actions: Action[];
  targets: ObjectRef[];
  node: string | undefined;
}

/** One chain for each subject: a Machine goes with the Node that it names. */
export function chainsOf({ actions, views }: Pick<Decision, 'actions' | 'views'>, cache: PreservationCache): Chain[] {
  const bySubject = new Map<string, Subject>();
  for (const action of actions) {
    const { target } = action;
    const node = target.kind === 'Node' ? target.name : target.kind === 'Machine' ? cache.machine(keyOf(target))?.nodeName : undefined;
    const key = linkOf(node === undefined ? target : { kind: 'Node', name: node });
    const subject = bySubject.get(key) ?? { actions: [], targets: [], node };
    subject.actions.push(action);
    subject.targets.push(target);
    bySubject.set(key, subject);
  }
  if (bySubject.size === 0) return [];
  // A Node's actions were decided from its Machine too.
  const machines = new Map<string, ObjectRef>();
  for (const { kind, name, namespace, node } of views) {
    if (kind === 'Machine' && node !== undefined) machines.set(node, { kind, name, uid: '', ...(namespace !== undefined && { namespace }) });
  }
  return [...bySubject].map(([key, subject]) => {
    const machine = subject.node === undefined ? undefined : machines.get(subject.node);
    const backing: ObjectRef[] = subject.node === undefined ? [] : [{ kind: 'Node', name: subject.node, uid: '' }];
    return {
      key,
      actions: subject.actions,
      premise: new Premise(cache, [...subject.targets, ...backing, ...(machine === undefined ? [] : [machine])], subject.node),
    };
  });
}
