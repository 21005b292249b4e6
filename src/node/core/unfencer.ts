import { sameContent } from '../../domain/canonical.ts';
import { decideUnfence, UNFENCE_FAILURES } from '../../domain/node-daemon/unfencing.ts';
import type { AttestedUnfence, Permit, UnfenceFacts, UnfenceFailure } from '../../domain/node-daemon/unfencing.ts';
import type { Clock } from '../../ports/clock.ts';
import type { DaemonLog, Registrations, UnfenceRecord, UnfenceRecordStore } from '../../ports/node-daemon.ts';

export interface UnfencerPorts {
  clock: Pick<Clock, 'monotonicMs'>;
  registrations: Registrations;
  record: UnfenceRecordStore;
  log: DaemonLog;
}

export interface UnfencerHooks {
  areGrantsEnded(): boolean;
  /** What the API server has of it, as far as it has acknowledged. */
  acknowledged(): AttestedUnfence | undefined;
  /** What is attested has changed. */
  changed(): void;
}

/** What `nodefence node status` shows. */
export type UnfencerStatus = Pick<AttestedUnfence, 'state' | 'why'> & { devices: readonly string[]; detail: string };

/** A device that does not answer is not asked all the time. */
const READ_AGAIN_MS = 2_000;
const REGISTER_AGAIN_MS = 5_000;
/** While nothing is asked for: what is there may be taken away. */
const LOOK_MS = 60_000;

/** Puts the node's storage registrations back (docs/node-daemon.md#unfencing). One thing at a time; what it does is decided by `decideUnfence`. */
export class Unfencer {
  readonly #ports: UnfencerPorts;
  readonly #bootID: string;
  readonly #hooks: UnfencerHooks;
  #record: UnfenceRecord | 'unreadable' = { isRegistering: false, epoch: 0 };
  #permit: UnfenceFacts['permit'];
  #found: UnfenceFacts['found'] = 'unread';
  #isBusy = false;
  /** Since this permit came, a process has registered. */
  #hasRegistered = false;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #detail = 'not looked at yet';
  #attested: AttestedUnfence;
  #problem: string | undefined;

  constructor(ports: UnfencerPorts, bootID: string, hooks: UnfencerHooks) {
    this.#ports = ports;
    this.#bootID = bootID;
    this.#hooks = hooks;
    this.#attested = { state: 'waiting', key: ports.registrations.key, devices: [...ports.registrations.devices] };
  }

  get attested(): AttestedUnfence {
    return this.#attested;
  }

  get status(): UnfencerStatus {
    const { state, why, devices } = this.#attested;
    return { state, ...(why === undefined ? {} : { why }), devices, detail: this.#detail };
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  /** What an earlier process of this boot did. */
  async restore(): Promise<void> {
    try {
      this.#record = (await this.#ports.record.read()) ?? this.#record;
      if (this.#record !== 'unreadable' && this.#record.isRegistering) this.#say('registering');
    } catch (error) {
      this.#record = 'unreadable';
      this.#ports.log.error('what was registered in this boot is not known', { error: String(error) });
    }
  }

  permit(permit: Permit, untilMs: number): void {
    if (this.#record !== 'unreadable' && permit.epoch < this.#record.epoch) {
      if (this.#permit?.run !== permit.run) this.#ports.log.warn('a permit of an older leader is not used', { epoch: permit.epoch });
      return;
    }
    if (this.#permit?.run !== permit.run || this.#permit.fence !== permit.fence || this.#permit.epoch !== permit.epoch) {
      this.#ports.log.info('the leader permits to unfence', { fence: permit.fence, run: permit.run, epoch: permit.epoch });
      // Whatever was read before says nothing of now.
      this.#found = 'unread';
      this.#hasRegistered = false;
      this.#notBeforeMs = Number.NEGATIVE_INFINITY;
    }
    this.#permit = { ...permit, untilMs };
  }

  /** The machine slept: what it was permitted before says nothing of now. */
  forget(): void {
    this.#permit = undefined;
  }

  tick(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    if (this.#isBusy) return;
    const decided = decideUnfence(this.#facts(nowMs));
    switch (decided.step) {
      case 'failed':
        this.#say('failed', decided.why);
        return;
      case 'ready':
        this.#say('ready to recover');
        return;
      case 'announce':
        this.#say('registering');
        return;
      case 'wait':
        if (nowMs - this.#lookedAtMs >= LOOK_MS || this.#attested.state === 'registering') this.#start(async () => this.#look());
        return;
      case 'read':
        if (nowMs >= this.#notBeforeMs) this.#start(async () => this.#look());
        return;
      case 'register':
        if (nowMs >= this.#notBeforeMs) this.#start(async () => this.#register());
    }
  }

  #facts(nowMs: number): UnfenceFacts {
    const { state, run, fence, epoch } = this.#attested;
    const isOfThis = run === this.#permit?.run && fence === this.#permit?.fence && epoch === this.#permit?.epoch;
    // This very word, and not one like it from before: what was said between them may still be on its way.
    const isAnnounced = state === 'registering' && isOfThis && this.#hooks.acknowledged() === this.#attested;
    return {
      ...{ bootID: this.#bootID, nowMs, permit: this.#permit, areGrantsEnded: this.#hooks.areGrantsEnded(), record: this.#record },
      newestEpoch: this.#record === 'unreadable' ? 0 : this.#record.epoch,
      found: this.#found,
      isAnnounced,
    };
  }

  #start(work: () => Promise<void>): void {
    this.#isBusy = true;
    void work()
      .catch((error: unknown) => {
        this.#detail = error instanceof Error ? error.message : String(error);
        this.#notBeforeMs = this.#ports.clock.monotonicMs() + REGISTER_AGAIN_MS;
      })
      .finally(() => (this.#isBusy = false));
  }

  /** What a permit that came meanwhile asks for is read again. */
  async #look(): Promise<void> {
    const { clock, registrations } = this.#ports;
    const asked = this.#permit?.run;
    const { found, detail } = await registrations.read();
    this.#lookedAtMs = clock.monotonicMs();
    this.#notBeforeMs = this.#lookedAtMs + READ_AGAIN_MS;
    this.#detail = detail;
    if (this.#record === 'unreadable') return;
    if (found === 'unknown') {
      // Whoever may still register says so until it is known that nobody does.
      if (this.#record.isRegistering) this.#say('registering', 'unreadable');
      else this.#say('failed', 'unreadable');
      return;
    }
    const { lacks } = this.#record;
    this.#write({ ...this.#record, lacks: found === 'missing' && lacks !== false, isRegistering: false });
    if (asked === this.#permit?.run) this.#found = found;
    if (found === 'missing' && this.#record.lacks !== true) this.#say('failed', 'shut out');
    else if (found === 'missing' && this.#hasRegistered) {
      this.#say('failed', 'not registered');
      this.#notBeforeMs = this.#lookedAtMs + REGISTER_AGAIN_MS;
    } else if (this.#permit === undefined || this.#attested.state !== 'ready to recover') this.#say('waiting');
  }

  async #register(): Promise<void> {
    const { registrations, log } = this.#ports;
    const permit = this.#permit;
    if (permit === undefined || this.#record === 'unreadable') return;
    this.#write({ ...this.#record, isRegistering: true, epoch: permit.epoch });
    this.#found = 'unread';
    this.#hasRegistered = true;
    log.info('registering', { devices: registrations.devices, run: permit.run });
    const { detail } = await registrations.register();
    this.#detail = detail;
    this.#notBeforeMs = Number.NEGATIVE_INFINITY;
  }

  /** Throws where it cannot be kept: then nothing is begun. */
  #write(record: UnfenceRecord): void {
    if (this.#record !== 'unreadable' && sameContent(record, this.#record)) return;
    this.#ports.record.write(record);
    this.#record = record;
  }

  #say(state: AttestedUnfence['state'], why?: UnfenceFailure): void {
    const { key, devices } = this.#ports.registrations;
    const { fence, run, epoch } = this.#permit ?? {};
    const of = fence === undefined || run === undefined || epoch === undefined ? {} : { fence, run, epoch };
    const next: AttestedUnfence = { state, key, devices: [...devices], ...(why === undefined ? {} : { why }), ...of };
    this.#problem = state === 'failed' && why !== undefined ? `not ready to recover: ${UNFENCE_FAILURES[why]}` : undefined;
    if (sameContent(next, this.#attested)) return;
    if (state !== this.#attested.state || why !== this.#attested.why)
      this.#ports.log.info('unfencing', { state, ...(why === undefined ? {} : { why: UNFENCE_FAILURES[why] }), detail: this.#detail });
    this.#attested = next;
    this.#hooks.changed();
  }
}
