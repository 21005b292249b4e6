import type { HostFacts, OwnRead } from '../../src/controllers/shared/baremetal-host/host.ts';
import { backOffMs, CYCLE, isLeftAlone, wishOf } from '../../src/testbed/operators/host-wish.ts';

const SHORT_WAIT_MS = 3_000;
const STEADY_MS = 60_000;
const SOFT_MS = 180_000;
const MINUTE_MS = 60_000;

export interface PowerQuestion {
  power: 'on' | 'off';
  target?: 'on' | 'off';
  lastError?: string;
  httpStatus?: number;
  mode?: 'hard' | 'soft';
}

export interface PowerAnswer {
  dirty: boolean;
  requeueAfterSeconds?: number;
  errorResult?: string;
  event?: string;
}

/** One call of the operator to what switches the power for it. Facts: the baremetal-operator's provisioner for Ironic. */
export function switchPower(wanted: 'on' | 'off', { power, target, lastError, httpStatus, mode = 'hard' }: PowerQuestion): PowerAnswer {
  if (power === wanted) return { dirty: false };
  if (target === wanted || httpStatus === 409) return { dirty: true, requeueAfterSeconds: SHORT_WAIT_MS / 1000 };
  if (lastError !== undefined) {
    return { dirty: false, requeueAfterSeconds: 0, errorResult: `Power${wanted === 'on' ? 'On' : 'Off'} operation failed` };
  }
  const soft = wanted === 'off' && mode === 'soft' ? 'soft ' : '';
  return { dirty: true, event: `Host ${soft}powered ${wanted}` };
}

/** How the machine behind a host behaves. `silent`: the BMC is not heard, and the status keeps what it said last. */
export type Bmc = 'well' | 'silent' | 'failing' | 'stuck-on' | 'stuck-off';

interface Options {
  annotations?: Record<string, string>;
  isOn?: boolean;
  bmc?: Bmc;
  hostUpdatePolicy?: 'onReboot';
  isFirmwareChangePending?: boolean;
}

/** A BareMetalHost and the operator that minds it, on a clock of their own: reboot annotations, slow re-reads, errors with back-off. */
export class Operator {
  nowMs = 0;
  annotations: Record<string, string>;
  isOn: boolean;
  bmc: Bmc;
  isOnline = true;
  neverOff = false;
  resourceVersion = 1;
  operationalStatus = 'OK';
  errorType = '';
  errorCount = 0;
  /** status.poweredOn. */
  told: boolean;
  readonly steps: string[] = [];
  offs = 0;
  ons = 0;
  readonly #options: Options;
  #nextMs = 0;
  #offDueMs: number | undefined;
  #serviced = false;
  #toldSinceMs = 0;

  constructor(options: Options = {}) {
    this.#options = options;
    this.annotations = { ...options.annotations };
    this.isOn = options.isOn ?? true;
    this.told = this.isOn;
    this.bmc = options.bmc ?? 'well';
  }

  /** A write by anybody wakes the operator, unless it backs off after errors. */
  annotate(annotations: Record<string, string>): void {
    this.annotations = annotations;
    this.resourceVersion += 1;
    if (this.errorCount === 0) this.#nextMs = Math.min(this.#nextMs, this.nowMs);
  }

  advance(toMs: number): void {
    while (this.#nextMs <= toMs) {
      this.nowMs = Math.max(this.nowMs, this.#nextMs);
      this.#nextMs = this.nowMs + this.#look();
    }
    this.nowMs = toMs;
  }

  facts(extra: Partial<HostFacts> = {}): HostFacts {
    return {
      name: 'host',
      namespace: 'metal',
      uid: 'uid-host',
      resourceVersion: String(this.resourceVersion),
      annotations: this.annotations,
      isDeleting: false,
      isOnline: this.isOnline,
      neverOff: this.neverOff,
      isExternallyProvisioned: false,
      provisioningState: 'provisioned',
      operationalStatus: this.operationalStatus,
      errorType: this.errorType,
      power: { isOn: this.told, seenMs: this.#toldSinceMs },
      ...extra,
    };
  }

  ownRead(): OwnRead {
    return { state: this.bmc === 'silent' ? 'unknown' : this.isOn ? 'on' : 'off', seenMs: this.nowMs };
  }

  /** Milliseconds until the next look. */
  #look(): number {
    if (isLeftAlone(this.annotations) || this.bmc === 'silent') return STEADY_MS;
    if (this.bmc === 'failing') return this.#fail();
    this.#recover();
    if (this.#offDueMs !== undefined && this.nowMs >= this.#offDueMs) {
      this.#offDueMs = undefined;
      this.isOn = false;
    }
    this.#tell(this.isOn);
    const { power, mode, endsCycle } = wishOf(this.annotations, this.isOnline, this.told);
    if (endsCycle) this.#removeCycle();
    if (this.told === (power === 'on')) return STEADY_MS;
    return power === 'off' ? this.#switchOff(mode) : this.#switchOn();
  }

  #switchOff(mode: 'hard' | 'soft'): number {
    if (this.neverOff) {
      this.offs += 1;
      return STEADY_MS;
    }
    if (this.#offDueMs !== undefined || this.bmc === 'stuck-on') return SHORT_WAIT_MS;
    this.offs += 1;
    this.#offDueMs = this.nowMs + (mode === 'soft' ? SOFT_MS : SHORT_WAIT_MS);
    return mode === 'soft' ? SOFT_MS : SHORT_WAIT_MS;
  }

  #switchOn(): number {
    const { hostUpdatePolicy, isFirmwareChangePending } = this.#options;
    if (hostUpdatePolicy === 'onReboot' && isFirmwareChangePending === true && !this.#serviced) {
      if (this.operationalStatus !== 'servicing') {
        this.#say('servicing');
        return 10_000;
      }
      this.#serviced = true;
      this.#say('OK');
      return SHORT_WAIT_MS;
    }
    if (this.bmc !== 'stuck-off') {
      this.ons += 1;
      this.isOn = true;
    }
    return SHORT_WAIT_MS;
  }

  #say(status: string): void {
    this.operationalStatus = status;
    this.resourceVersion += 1;
    this.steps.push(`operationalStatus=${status} while ${this.told ? 'on' : 'off'}`);
  }

  #tell(isOn: boolean): void {
    if (this.told === isOn) return;
    this.told = isOn;
    this.#toldSinceMs = this.nowMs;
    this.resourceVersion += 1;
    this.steps.push(`poweredOn=${String(isOn)}`);
  }

  #removeCycle(): void {
    const { [CYCLE]: _cycle, ...rest } = this.annotations;
    this.annotations = rest;
    this.resourceVersion += 1;
    this.steps.push('annotation removed');
  }

  #fail(): number {
    this.operationalStatus = 'error';
    this.errorType = 'power management error';
    this.errorCount += 1;
    this.resourceVersion += 1;
    return backOffMs(this.errorCount, MINUTE_MS);
  }

  #recover(): void {
    if (this.errorCount === 0) return;
    this.errorCount = 0;
    this.operationalStatus = 'OK';
    this.errorType = '';
    this.resourceVersion += 1;
  }
}
