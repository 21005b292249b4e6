import type { Remedy, RemedyUse, Threshold } from './configuration.ts';
import type { ThresholdView } from './conditions.ts';

/** Where the remedies of one condition of one node are, and what one decision about them may look at. Pure; plain data, so that it can be written down. */

export const REMEDY_PHASES = ['waiting', 'starting', 'running', 'cooling', 'recovered', 'fenced', 'handed-over'] as const;
export type RemedyPhase = (typeof REMEDY_PHASES)[number];

/** Written down before anything is done by it. Small and bounded; a new leader goes on from it. */
export interface RemedyPosition {
  readonly threshold: string;
  /** Fresh for each time that the condition begins to stand: names of runs are never used again. */
  readonly episode: string;
  readonly phase: RemedyPhase;
  /** Pass through all remedies, from 1. */
  readonly attempt: number;
  /** Number of the remedy that was begun last in this pass; 0: none. */
  readonly rung: number;
  /** Runs that were written down so far, also those that were never begun. */
  readonly serial: number;
  readonly run?: RemedyRun;
  /** The remedy succeeded, and its `clean-resource` is to be done. */
  readonly cleans?: number;
  /** Of a run that evicts, and of `cleans`: the newest pod that stood there when it began was created then. Later ones are left. */
  readonly podsUntil?: string;
  /** Something was begun in this episode: then the recovery runs when it is over. */
  readonly hasActed: boolean;
  /** Why a person was asked. */
  readonly because?: 'attempts' | 'recovery';
  /** Of a fence that took over: in which boot, and from what. */
  readonly fenced?: { readonly from: RemedyPhase; readonly bootID?: string };
}

export interface RemedyRun {
  /** Names its Job; the same run has the same name, whoever begins it. */
  readonly id: string;
  readonly remedy: string;
  readonly kind: Remedy['kind'];
  readonly of: number | 'recovery';
}

export interface RemedyState {
  readonly position: RemedyPosition;
  /** When this process first saw this phase, monotonic. Not written down: a new leader waits anew. */
  readonly sinceMs: number;
}

/**
 * What is known of the run. `absent`: a consistent read found none, and no call of ours is under way. `unknown`: it could not be looked up, or a call is.
 * A run that ended is kept in the cluster until the position has left `running`.
 */
export type RunOutcome = 'unknown' | 'absent' | 'running' | 'succeeded' | 'failed';

export interface RemedyHold {
  readonly reason: string;
  readonly message: string;
  /** A storm policy: it never keeps a node from its recovery. */
  readonly isPolicy: boolean;
}

/** What `clean-resource` may do now. Never told by how a Job ended. */
export type Presence =
  | { readonly kind: 'alive' }
  /** It is silent, and every device of its own plan reads off: a fence proves it, and lets its pods go by that. */
  | { readonly kind: 'reads-off'; readonly reads: string }
  | { readonly kind: 'unproven'; readonly waitsFor: string };

/** Everything that one decision about one threshold may look at. */
export interface RemedyFacts {
  readonly nowMs: number;
  /** As configured now; absent: it is configured no more, or overlaps. */
  readonly threshold: Threshold | undefined;
  /** Some Configuration has an error: whether a threshold that is missing is configured no more is not known. */
  readonly isIncomplete?: boolean | undefined;
  readonly view: ThresholdView;
  readonly state: RemedyState | undefined;
  /** Of `state.position.run`. */
  readonly outcome: RunOutcome;
  readonly holds: readonly RemedyHold[];
  /** An open fence of the node; `byRun`: the run, or the release, that asked for it. */
  readonly fence: { readonly byRun?: string | undefined } | undefined;
  /** Another remedy of this node is under way. */
  readonly isBusy: boolean;
  readonly presence: Presence;
  /** No pod is left to let go. */
  readonly isCleaned: boolean;
  /** When the newest of the pods that may be evicted was created, of a run that is about to count them; absent: there is none, or nothing counts them. */
  readonly newestPod?: string | undefined;
  /** A person said to go on. */
  readonly isResumed: boolean;
  readonly bootID?: string | undefined;
  /** One fresh value for each decision. */
  readonly uuid: string;
}

export type RemedyAction =
  /** Creates the run, under its name, if it is not there. */
  | { readonly kind: 'begin'; readonly run: RemedyRun; readonly use: RemedyUse }
  /** Ends the run and whatever it began. */
  | { readonly kind: 'cancel'; readonly run: RemedyRun }
  /** Pods, under their PodDisruptionBudgets. */
  | { readonly kind: 'evict' }
  /** Pods, by the evidence of a fence that ends in off. */
  | { readonly kind: 'release'; readonly id: string; readonly mode?: NonNullable<RemedyUse['release']> };

/** Either the position changes or something is done by it, never both: what is done was written down before. */
export interface RemedyStep {
  /** `none`: it is forgotten. Absent: it stays. */
  readonly position?: RemedyPosition | 'none';
  readonly actions?: readonly RemedyAction[];
  /** One sentence for people: what it waits for, or what they must do. */
  readonly says?: string;
  /** When time alone changes that, monotonic. */
  readonly dueMs?: number | undefined;
  /** A run ended: counted by condition and remedy. */
  readonly ended?: { readonly run: RemedyRun; readonly result: 'succeeded' | 'failed' | 'lost' };
}

/** A run that has not ended by then is ended; a fence has deadlines of its own. */
export const RUN_MAX_MS = 3_600_000;

export function newPosition({ threshold, uuid }: Pick<RemedyFacts, 'threshold' | 'uuid'>): RemedyPosition {
  return { threshold: threshold?.id ?? '', episode: uuid, phase: 'waiting', attempt: 1, rung: 0, serial: 0, hasActed: false };
}

/** The position with the next run written down. Nothing is begun by that. */
export function withRun(position: RemedyPosition, use: RemedyUse, of: RemedyRun['of']): RemedyPosition {
  const serial = position.serial + 1;
  const id = `${position.episode}-${position.attempt}-${of}-${serial}`;
  const run: RemedyRun = { id, remedy: use.name, kind: use.remedy.kind, of };
  return { ...withoutCleaning(position), phase: 'starting', rung: of === 'recovery' ? position.rung : of, serial, run };
}

/** Whatever this episode asked a fence for. */
export function isOfEpisode(id: string | undefined, { episode }: Pick<RemedyPosition, 'episode'>): boolean {
  return id?.startsWith(`${episode}-`) === true;
}

/** Names the release of pods that this remedy asks for. */
export function releaseId({ episode, attempt, cleans }: RemedyPosition): string {
  return `${episode}-${attempt}-release-${cleans ?? 0}`;
}

/** Without a run, in another phase. */
export function moved(position: RemedyPosition, phase: RemedyPhase, change: Partial<RemedyPosition> = {}): RemedyPosition {
  const { run: _run, because: _because, fenced: _fenced, ...kept } = position;
  return { ...(kept.cleans === undefined ? withoutCleaning(kept) : kept), phase, ...change };
}

export function useOf({ remedies, recovery }: Threshold, of: RemedyRun['of']): RemedyUse | undefined {
  return of === 'recovery' ? recovery : remedies[of - 1];
}

/** What the run uses, as configured now; undefined: it is configured no more. Another remedy under the same number is another one. */
export function useOfRun(threshold: Threshold, { of, remedy, kind }: RemedyRun): RemedyUse | undefined {
  const use = useOf(threshold, of);
  return use?.name === remedy && use.remedy.kind === kind ? use : undefined;
}

/** Without pods to let go. */
export function withoutCleaning({ cleans: _cleans, podsUntil: _podsUntil, ...kept }: RemedyPosition): RemedyPosition {
  return kept;
}

/** It is written down as begun, or as to be begun. */
export function isUnderWay(state: RemedyState | undefined): boolean {
  return state?.position.run !== undefined;
}
