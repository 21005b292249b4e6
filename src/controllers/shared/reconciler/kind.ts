import type { Lister } from '../../../ports/cluster.ts';
import type { KubeObject } from '../../../ports/objects.ts';

/** What became of the actions of a plan. none: there are none, or what is left of them waits until it is due. */
export type End = 'done' | 'conflict' | 'none';

/** What was decided about one object. */
export interface Plan<A extends { kind: string } = { kind: string }> {
  /** In the order in which they must be done. */
  actions: readonly A[];
  /** What keeps it from its end, one sentence each. */
  problems: readonly string[];
  /** When it is reconciled again although nothing has changed; after the resync period at the latest. */
  dueInMs?: number;
  /** The same once all actions are done; absent: when it is due. */
  afterActionsMs?: number;
  /** Does one action. Rejects with `Conflict` where the object is another than it was decided for. */
  perform(action: A): Promise<void>;
  /** One that could not be done, whatever the reason. */
  failed?(action: A, error: unknown): void;
  /** The API server may refuse it: that is reported, and the next action is done. */
  mayBeRefused?(action: A): boolean;
  /** The same behind a conflict; undefined: when it is due. Absent: soon, for all of them. */
  afterConflictMs?(action: A, error: unknown): number | undefined;
  /** After the actions, whatever became of them; not where one has failed. */
  settle?(end: End): Promise<void>;
}

/** An object, or what stands for one. */
export type Reconciled = Partial<Pick<KubeObject, 'metadata'>>;

/** Objects that are reconciled one by one. A key of the queue is `<kind> <namespace>/<name>`. */
export interface ReconciledKind<T extends Reconciled = Reconciled, A extends { kind: string } = { kind: string }> {
  /** As keys name it. */
  kind: string;
  /** All of them are reconciled when leadership comes, and each when it changes. Absent: the controller enqueues them itself. */
  lister?: Lister<KubeObject>;
  /** Nothing is left to be done about one that is gone. */
  isGoneForgotten?: boolean;
  /** A consistent read; undefined: it is gone. Absent: there is nothing to be read. */
  get?(namespace: string, name: string): Promise<T | undefined>;
  /** As the watch has it, by `namespace/name`: what a failure is recorded about where it can not be read. */
  known?(key: string): T | undefined;
  /** Observes it and decides. undefined: nothing is to be done about it any more. Rejects when something could not be read: then nothing is decided. */
  reconcile(key: string, object: T): Promise<Plan<A> | undefined>;
  /** It is gone, or nothing is to be done about it any more. */
  forget?(key: string): Promise<void> | void;
  /** Is a failure worth reporting? `failures`: how many in a row, with this one. Absent: none is, the log of the queue has it. */
  isReported?(key: string, error: unknown, failures: number): boolean;
  /** Which machine it holds off now, where it does: a refusal keeps that one off. */
  leftOff?(object: T): string | undefined;
  /** Records an Event about the object for a problem that is new. Called only while it may write. */
  record?(key: string, object: T, problem: string, isFailure: boolean): void;
}

/** The key of the queue of one object. */
export function keyOf(kind: string, { metadata: { namespace = '', name } }: { metadata: { namespace?: string; name: string } }): string {
  return `${kind} ${namespace}/${name}`;
}
