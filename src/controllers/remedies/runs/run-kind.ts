import type { RemedyUse, Threshold } from '../../../domain/remedy/configuration.ts';
import type { RemedyPosition, RemedyRun, RunOutcome } from '../../../domain/remedy/position.ts';
import type { Node } from '../../../ports/objects.ts';
import type { NodeMemory } from '../memory.ts';

/** One run, and where it stands. */
export interface RunContext {
  node: Node;
  memory: NodeMemory;
  position: RemedyPosition;
  run: RemedyRun;
  /** As configured now; absent: it is configured no more. */
  threshold: Threshold | undefined;
  /** What the run uses; absent: it is configured no more. */
  use: RemedyUse | undefined;
}

/** What a consistent read shows of it. */
export interface SeenRun {
  outcome: RunOutcome;
  /** Why, or what it waits for. */
  message?: string | undefined;
  pod?: string | undefined;
  /** When the newest pod that is to be let go was created. */
  newestPod?: string | undefined;
  /** Something keeps it, which a person should know. */
  isKept?: boolean;
  /** It may still act and is to be ended, whatever is decided. */
  mustGo?: boolean;
}

/** How one kind of remedy is begun, observed and ended. Everything may be asked for again, also after a crash. */
export interface RunKind {
  /** Rejects when it could not be read: then nothing is decided. */
  observe(context: RunContext): Promise<SeenRun>;
  /** `mayBegin` throws where it must not begin any more; asked in the turn in which the bytes leave. */
  begin(context: RunContext & { use: RemedyUse }, mayBegin: () => void): Promise<void>;
  /** Ends it and whatever it began. */
  cancel(context: RunContext): Promise<void>;
  /** What is left of it to do while it runs. Absent: it runs by itself. */
  proceed?(context: RunContext, mayBegin: () => void): Promise<void>;
  /** The end of what its pod wrote. Absent: it has no pod. */
  tail?(context: RunContext, pod: string): Promise<string>;
}
