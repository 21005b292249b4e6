/** `Wedged`: whoever posts it takes it back. `KernelDeadlock` is latched. */
export type PostedCondition = 'Wedged' | 'KernelDeadlock';
export type RemedyCondition = PostedCondition | 'Ready';

/** `gone`: the condition vanishes from the Node. */
export type Posted = 'True' | 'False' | 'Unknown' | 'gone';

/**
 * Of the Configuration of every world: Jobs that succeed, succeed late, fail, hang until their deadline, and one that runs on the sick node itself; methods of
 * the node's own fence configuration that isolate it, or switch it; a whole fence. The others are built in.
 */
export type RemedyName =
  | 'mend'
  | 'mend-slowly'
  | 'fail'
  | 'wedge'
  | 'mend-here'
  | 'methods'
  | 'cycle'
  | 'whole'
  | 'cordon'
  | 'drain'
  | 'clean-pods'
  | 'storage-fence';
export type RecoveryName = 'uncordon' | 'recovery' | 'mend' | 'fail';

export interface DrawnRemedy {
  name: RemedyName;
  periodSeconds: number;
  cleans: boolean;
}

export interface DrawnThreshold {
  condition: RemedyCondition;
  /** Of `flap`: it stands when it changed so often. */
  status: 'true' | 'false' | 'Unknown' | { changes: number; windowSeconds: number };
  periodSeconds: number;
  heartbeatSeconds: number | 'never';
  remedies: readonly DrawnRemedy[];
  recovery?: RecoveryName;
  maxAttempts: number;
  cooldownSeconds: number;
}

/** What one monitor posts of one condition of one node. It renews what it said, but for the times in which it stands still. */
export interface Monitor {
  node: string;
  condition: PostedCondition;
  says: readonly { atMs: number; status: Posted }[];
  stills: readonly { fromMs: number; toMs: number }[];
}

/**
 * stop: of all nodes where none is named. resume: whatever asks for a person. cordon: by hand, and taken back by hand; `again`: somebody takes back whatever
 * cordon stands, and cordons for a reason of their own. delete-fence, delete-jobs, delete-pods (of Jobs): whatever is there. budget: no pod may be disrupted.
 * configure: edited, removed, or written with an error, and put back.
 */
export type RemedyDeed = { atMs: number; durationMs: number } & (
  | { what: 'stop'; node?: string }
  | { what: 'resume' | 'delete-jobs' | 'delete-pods' | 'budget' }
  | { what: 'cordon'; node: string; how: 'by-hand' | 'again' }
  | { what: 'delete-fence'; node: string }
  | { what: 'configure'; how: 'edited' | 'removed' | 'broken' }
);

/** Remedies of one world. Plain data, drawn from the seed alone. */
export interface RemedyWorld {
  /** Those that the Configuration names. */
  nodes: readonly string[];
  thresholds: readonly DrawnThreshold[];
  monitors: readonly Monitor[];
  deeds: readonly RemedyDeed[];
}

/** When the last deed is over, and the last word of a monitor is said. */
export function remedyDeedsEndMs(remedies: RemedyWorld | undefined): number {
  const ends = (remedies?.deeds ?? []).map(({ atMs, durationMs }) => atMs + durationMs);
  const words = (remedies?.monitors ?? []).flatMap(({ says, stills }) => [...says.map(({ atMs }) => atMs), ...stills.map(({ toMs }) => toMs)]);
  return Math.max(0, ...ends, ...words);
}
