import { DEFAULT_RETRY_LIMIT, DEFAULT_TIMEOUT_MS, DRAIN_TIMEOUT_MS, isSeedShape } from './names.ts';

export interface Settings {
  /** Only Reboot is done. */
  type: string;
  /** So often it is tried again: a limit of N is N + 1 power cycles. */
  retryLimit: number;
  /** For a Node to be back, counted from the beginning of a cycle as Metal3 counts it. */
  timeoutMs: number;
  powerOffTimeoutMs: number;
  /** At least this is left for the way back, however long the off took. */
  powerOnTimeoutMs: number;
  drainTimeoutMs: number;
}

/** The strategy as it is written, in whichever version. */
export interface Strategy {
  type?: string;
  retryLimit?: number;
  timeoutSeconds?: number | null;
}

const TIMEOUT_SECONDS_MIN = 100;
const REBOOT = 'Reboot';

/** What the webhooks of Metal3 refuse, each in words; the CRD's schema says the same where there is no webhook. */
export function validate({ type: written, retryLimit = DEFAULT_RETRY_LIMIT, timeoutSeconds }: Strategy): string[] {
  const type = typeOf(written);
  const seconds = timeoutSeconds ?? undefined;
  const isShort = seconds !== undefined && seconds !== 0 && seconds < TIMEOUT_SECONDS_MIN;
  return [
    ...(isShort ? [`spec.strategy.timeoutSeconds: ${seconds} is less than ${TIMEOUT_SECONDS_MIN}`] : []),
    ...(type === REBOOT ? [] : [`spec.strategy.type: ${type} is not supported, only ${REBOOT}`]),
    ...(retryLimit >= 1 ? [] : [`spec.strategy.retryLimit: ${retryLimit} is less than 1`]),
  ];
}

/** What is not said is filled in; a retry limit of 0, or a timeout of 0, which nothing could keep, counts as not said. A template without a strategy gets a whole one. */
export function withDefaults(strategy: Strategy = {}): Required<Strategy> & { timeoutSeconds: number } {
  const { retryLimit = 0, timeoutSeconds } = strategy;
  const seconds = timeoutSeconds ?? 0;
  return {
    type: typeOf(strategy.type),
    retryLimit: retryLimit > 0 ? retryLimit : DEFAULT_RETRY_LIMIT,
    timeoutSeconds: seconds > 0 ? seconds : DEFAULT_TIMEOUT_MS / 1000,
  };
}

/** Metal3 fills an empty one in. */
function typeOf(type: string | undefined): string {
  return type === undefined || type === '' ? REBOOT : type;
}

/** v1beta2 (`timeoutSeconds`), v1beta1 (`timeout: 10m0s`), and the seed's own kind. */
export function readSpec(apiVersion: string, spec: unknown): { settings: Settings; problems: string[] } {
  const fields = recordOf(spec);
  if (isSeedShape(apiVersion)) return readSeed(fields);
  const written = recordOf(fields['strategy']);
  const numbers = new Numbers('spec.strategy', written);
  const duration = written['timeout'];
  const type = written['type'];
  const retryLimit = numbers.read('retryLimit');
  const seconds = numbers.read('timeoutSeconds') ?? secondsOf(duration);
  const strategy: Strategy = {
    ...(type !== undefined && type !== null && { type: typeof type === 'string' ? type : JSON.stringify(type) }),
    ...(retryLimit !== undefined && { retryLimit }),
    ...(seconds !== undefined && { timeoutSeconds: seconds }),
  };
  const isOdd = duration !== undefined && secondsOf(duration) === undefined;
  const odd = isOdd ? [`spec.strategy.timeout: ${JSON.stringify(duration)} is not a duration`] : [];
  const whole = withDefaults(strategy);
  return {
    settings: settingsOf(whole.type, whole.retryLimit, whole.timeoutSeconds * 1000),
    problems: [...validate(strategy), ...numbers.problems, ...odd],
  };
}

function readSeed(fields: Record<string, unknown>): ReturnType<typeof readSpec> {
  const { strategy } = fields;
  const isKnown = strategy === undefined || strategy === 'escalate';
  const numbers = new Numbers('spec', fields);
  const secondsMs = (name: string): number => 1000 * (numbers.notNegative(name) ?? 0) || DEFAULT_TIMEOUT_MS;
  const powerOnTimeoutMs = secondsMs('powerOnTimeoutSeconds');
  const powerOffTimeoutMs = secondsMs('powerOffTimeoutSeconds');
  const retryLimit = numbers.notNegative('deleteAfterRetries') ?? DEFAULT_RETRY_LIMIT;
  const type = isKnown ? REBOOT : JSON.stringify(strategy);
  const problems = isKnown ? [] : [`spec.strategy: ${JSON.stringify(strategy)} is not supported, only escalate`];
  return { settings: { ...settingsOf(type, retryLimit, powerOnTimeoutMs), powerOffTimeoutMs }, problems: [...problems, ...numbers.problems] };
}

/** Whole numbers of one object; what is none is told, and counts as not said. */
class Numbers {
  readonly problems: string[] = [];
  readonly #path: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(path: string, fields: Readonly<Record<string, unknown>>) {
    this.#path = path;
    this.#fields = fields;
  }

  read(name: string): number | undefined {
    const value = this.#fields[name];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'number' && Number.isInteger(value)) return value;
    this.problems.push(`${this.#path}.${name}: ${JSON.stringify(value)} is not a whole number`);
    return undefined;
  }

  notNegative(name: string): number | undefined {
    const value = this.read(name);
    if (value === undefined || value >= 0) return value;
    this.problems.push(`${this.#path}.${name}: ${value} is less than 0`);
    return undefined;
  }
}

function settingsOf(type: string, retryLimit: number, timeoutMs: number): Settings {
  return { type, retryLimit, timeoutMs, powerOffTimeoutMs: timeoutMs, powerOnTimeoutMs: timeoutMs, drainTimeoutMs: DRAIN_TIMEOUT_MS };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1, ms: 0.001 };

/** metav1.Duration as Go writes it, `1h10m0s`. */
function secondsOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^(\d+(\.\d+)?(h|ms|m|s))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g);
  return [...parts].reduce((sum, [, count = '0', unit = 's']) => sum + Number(count) * (UNIT_SECONDS[unit] ?? 1), 0);
}
