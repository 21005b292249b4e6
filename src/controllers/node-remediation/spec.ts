import { DEFAULT_RETRY_LIMIT, DEFAULT_TIMEOUT_MS, isSeedShape } from './names.ts';

const STRATEGIES = ['fence', 'fence-and-recover', 'escalate'] as const;
const REMOVALS = ['OutOfServiceTaint', 'DeleteNode', 'None'] as const;
const EXHAUSTIONS = ['Reuse', 'Retire', 'LeaveOff'] as const;

export interface Settings {
  /** fence: proven off, workload let go, stays off. fence-and-recover: and on again. escalate: as that, and at the limit the owner replaces the Machine. */
  strategy: (typeof STRATEGIES)[number];
  /** So often it is tried again: a limit of N is N + 1 fences. */
  retryLimit: number;
  /** How long a node may stay unhealthy after a fence that succeeded, before it is tried again. */
  timeoutMs: number;
  powerOffTimeoutMs: number;
  powerOnTimeoutMs: number;
  nodeRemoval: (typeof REMOVALS)[number];
  /** What becomes of the machine at the limit. Reuse: nothing. Retire: its host is marked as unhealthy. LeaveOff: its fence stands as it is. */
  onExhaustion: (typeof EXHAUSTIONS)[number];
  /** Between the beginnings of two fences. */
  cooldownMs: number;
  /** The fence configuration to be used in place of the node's own. */
  methodRef?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads one field after the other, and keeps what is wrong with them. */
class SpecReader {
  readonly problems: string[] = [];
  readonly #fields: Fields;

  constructor(spec: unknown) {
    this.#fields = typeof spec === 'object' && spec !== null && !Array.isArray(spec) ? { ...spec } : {};
  }

  choice<T extends string>(name: string, choices: readonly T[], otherwise: T): T {
    const value = this.#fields[name];
    const found = choices.find((each) => each === value);
    if (found === undefined && value !== undefined) this.problems.push(`spec.${name}: ${JSON.stringify(value)} is not one of ${choices.join(', ')}`);
    return found ?? otherwise;
  }

  count(name: string, least: number, otherwise: number): number {
    const value = this.#fields[name];
    if (value === undefined) return otherwise;
    if (typeof value === 'number' && Number.isInteger(value) && value >= least) return value;
    this.problems.push(`spec.${name}: ${JSON.stringify(value)} is not a whole number of at least ${least}`);
    return otherwise;
  }

  /** Seconds on the wire. */
  durationMs(name: string, otherwise: number): number {
    return this.count(name, 0, otherwise / 1000) * 1000;
  }

  /** Nothing is done in no time: 0 counts as not said. */
  timeoutMs(name: string, otherwise: number): number {
    const ms = this.durationMs(name, 0);
    return ms === 0 ? otherwise : ms;
  }

  text(name: string): string | undefined {
    const value = this.#fields[name];
    if (typeof value === 'string' && value !== '') return value;
    if (value !== undefined) this.problems.push(`spec.${name}: ${JSON.stringify(value)} is not a name`);
    return undefined;
  }
}

/** NodeFenceRemediation of `ha.k8s.io/v1`, and the seed's `Metal3Remediation` of `remediation.metal3.io`, whose strategy is escalate. */
export function readSpec(apiVersion: string, spec: unknown): { settings: Settings; problems: readonly string[] } {
  const reader = new SpecReader(spec);
  const strategy = reader.choice('strategy', STRATEGIES, isSeedShape(apiVersion) ? 'escalate' : 'fence-and-recover');
  const retries = reader.count('retryLimit', 0, DEFAULT_RETRY_LIMIT);
  const timeoutMs = reader.timeoutMs('timeoutSeconds', DEFAULT_TIMEOUT_MS);
  const methodRef = reader.text('methodRef');
  const settings: Settings = {
    strategy,
    // The seed's name for the limit of escalate.
    retryLimit: reader.count('deleteAfterRetries', 0, retries),
    timeoutMs,
    powerOffTimeoutMs: reader.timeoutMs('powerOffTimeoutSeconds', timeoutMs),
    powerOnTimeoutMs: reader.timeoutMs('powerOnTimeoutSeconds', timeoutMs),
    nodeRemoval: reader.choice('nodeRemoval', REMOVALS, 'OutOfServiceTaint'),
    onExhaustion: reader.choice('onExhaustion', EXHAUSTIONS, 'Reuse'),
    cooldownMs: reader.durationMs('cooldownSeconds', 0),
    ...(methodRef !== undefined && { methodRef }),
  };
  const isOdd = settings.nodeRemoval === 'DeleteNode' && strategy !== 'fence';
  const odd = 'spec.nodeRemoval: DeleteNode goes with strategy fence alone: for a node that is to come back use OutOfServiceTaint';
  return { settings, problems: [...reader.problems, ...(isOdd ? [odd] : [])] };
}
