/** `3` or `40%`; OpenShift reads `"3"` as 3. */
export type IntOrPercent = number | string;

/** When remediation is allowed. `shown` is what the messages print. */
export type Trigger =
  /** At most so many may be unhealthy; a part is rounded down. */
  | { kind: 'at-most'; value: IntOrPercent; shown: string }
  /** The seed's v1alpha3: fewer than so many; a part is taken exactly. */
  | { kind: 'below'; value: IntOrPercent; shown: string }
  | { kind: 'range'; from: number; to: number; shown: string };

export interface Tally {
  /** All targets. */
  expected: number;
  healthy: number;
  /** Those that failed their check; those that are not started, pending or being deleted are neither. */
  failed: number;
}

export interface Threshold {
  isAllowed: boolean;
  /** How many more machines may become unhealthy. */
  remediationsAllowed: number;
  /** Of RemediationAllowed, where it is not. */
  message: string;
}

const NOT_A_PERCENTAGE = 'invalid value for IntOrString: invalid type: string is not a percentage';

/** The number itself, or the part of the total. Throws with Kubernetes' words what is neither. */
export function scaled(value: IntOrPercent, total: number, round: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const [, digits] = /^(-?\d+)%$/.exec(value) ?? [];
  if (digits === undefined) throw new Error(NOT_A_PERCENTAGE);
  const part = (Number(digits) * total) / 100;
  return round === 'up' ? Math.ceil(part) : Math.floor(part);
}

/** Why it is neither; undefined when it is one of them. */
export function faultOf(value: IntOrPercent): string | undefined {
  return typeof value === 'number' || /^-?\d+%$/.test(value) ? undefined : NOT_A_PERCENTAGE;
}

function bounds(trigger: Trigger | undefined, expected: number): { from: number; to: number } {
  if (trigger === undefined) return { from: 0, to: expected };
  if (trigger.kind === 'range') return trigger;
  if (trigger.kind === 'at-most') return { from: 0, to: scaled(trigger.value, expected, 'down') };
  // Of no machines every part is at or above: nothing could be remediated anyway, and nobody need be told.
  return { from: 0, to: expected === 0 ? 0 : scaled(trigger.value, expected, 'up') - 1 };
}

const WORDS: Readonly<Record<Trigger['kind'], [string, string]>> = {
  'at-most': ['exceeds maxUnhealthy', 'maxUnhealthy'],
  below: ['is at or above maxUnhealthy', 'maxUnhealthy'],
  range: ['does not fall within the range', 'unhealthyRange'],
};

/** Not started, pending and deleting machines count as unhealthy; the message counts only those that failed. */
export function thresholdOf(trigger: Trigger | undefined, { expected, healthy, failed }: Tally): Threshold {
  const unhealthy = expected - healthy;
  const { from, to } = bounds(trigger, expected);
  if (unhealthy >= from && unhealthy <= to) return { isAllowed: true, remediationsAllowed: to - unhealthy, message: '' };
  const { kind, shown } = trigger ?? { kind: 'at-most', shown: '100%' };
  const [verb, name] = WORDS[kind];
  const counts = `(total: ${expected}, unhealthy: ${failed}, ${name}: ${shown})`;
  const message = `Remediation is not allowed, the number of not started or unhealthy machines ${verb} ${counts}`;
  return { isAllowed: false, remediationsAllowed: 0, message };
}
