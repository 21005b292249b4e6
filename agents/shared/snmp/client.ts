import { ObjectType, type Varbind } from 'net-snmp';

import type { DeviceBoot, Outcome } from '../../../src/ports/agents.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { AddressRefused, ANY_ADDRESS, type AddressCheck } from '../address/address-check.ts';
import type { Call, CallTarget } from '../call.ts';
import { NO_SUCH_NAME, TOO_BIG, UNCLEAR, type Answer } from './answer.ts';
import { SnmpBoots } from './boots.ts';
import { Link } from './link.ts';
import type { SnmpSettings } from './settings.ts';
import { compareOids, integerOf, valueOf, type SnmpValue } from './value.ts';

type AnyCall = Call<CallTarget>;

export interface SnmpRow {
  /** The whole name of the instance. */
  oid: string;
  /** The part of it behind the root of the walk: `1.24`. */
  index: string;
  value: SnmpValue;
}

/** What to write; every value that switches something is an INTEGER. */
export interface SnmpBinding {
  oid: string;
  integer: number;
}

const TRIES = 5;
/** So long before the call would end without a word a silence is reported in words. */
const OWN_WORDS_MS = 250;
/** Small enough for one datagram of the oldest devices. */
const NAMES_PER_REQUEST = 16;
const ROWS_PER_REQUEST = 24;
/** After this long without an answer a SET is `unclear`, so that time is left for reads. */
const SET_PATIENCE_MS = 4_000;
const SYS_UP_TIME = '1.3.6.1.2.1.1.3.0';

/**
 * One device over SNMP 1, 2c or 3 (net-snmp). The calls on it run one at a time and end with their `Call`; every failure is an `AgentError`.
 *
 * - `get(call, oids)`: values in the order of the names; `undefined` for one that the device does not have.
 * - `set(call, bindings, beforeSend)`: one SET, sent once; accepted, unclear, or thrown as `Refused` in the words of its error-status.
 * - `walk(call, root, rowsMax)`: every instance below a name.
 * - `columns(call, roots, rowsMax)`: the same for several names at once.
 * - `present(call, roots)`: which names have anything below them.
 * - `close()`: ends the session; the client may be used again.
 *
 * Reads are sent again until they are answered. An answer counts only when it comes from the address that was asked, carries the request's
 * number and names, and with SNMP 3 the configured protection and the engine that proved itself first; anything else is dropped.
 */
export class SnmpClient {
  readonly #settings: SnmpSettings;
  readonly #clock: Clock;
  readonly #check: AddressCheck;
  readonly #boots: SnmpBoots;
  #link: Link | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(settings: SnmpSettings, clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#settings = settings;
    this.#check = check;
    this.#clock = clock;
    this.#boots = new SnmpBoots(clock);
  }

  /** As `get`, with the boot of the device that answered by its sysUpTime in the same answer, where it has one. */
  async getWithBoot(
    call: AnyCall,
    oids: readonly string[],
    startMaxMs: number,
  ): Promise<{ values: readonly (SnmpValue | undefined)[]; boot: DeviceBoot | undefined }> {
    const isAsked = this.#boots.isKnown;
    const all = await this.get(call, isAsked ? [...oids, SYS_UP_TIME] : oids);
    if (isAsked) this.#boots.see(integerOf(all[oids.length]));
    return { values: all.slice(0, oids.length), boot: this.#boots.current(startMaxMs) };
  }

  async get(call: AnyCall, oids: readonly string[]): Promise<readonly (SnmpValue | undefined)[]> {
    return this.#exclusive(call, () => this.#values(call, oids));
  }

  /** Rejects when there are more than `rowsMax` rows: a part of a table proves nothing about its rest. */
  async walk(call: AnyCall, root: string, rowsMax: number): Promise<readonly SnmpRow[]> {
    const [rows = []] = await this.columns(call, [root], rowsMax);
    return rows;
  }

  /** As `walk` for several columns, read side by side. */
  async columns(call: AnyCall, roots: readonly string[], rowsMax: number): Promise<readonly (readonly SnmpRow[])[]> {
    return this.#exclusive(call, async () => {
      const walks = roots.map((root): Walk => ({ root, last: root, rows: [], isOver: false }));
      for (let open = walks; open.length > 0; open = walks.filter(({ isOver }) => !isOver)) {
        await this.#further(call, open, Math.max(4, Math.floor(ROWS_PER_REQUEST / open.length)));
        for (const { rows, root } of walks) if (rows.length > rowsMax) throw call.error('Misconfigured', `more than ${rowsMax} rows below ${root}`);
      }
      return walks.map(({ rows }) => rows);
    });
  }

  async present(call: AnyCall, roots: readonly string[]): Promise<readonly boolean[]> {
    return this.#exclusive(call, async () => {
      const walks = roots.map((root): Walk => ({ root, last: root, rows: [], isOver: false }));
      await this.#further(call, walks, 1);
      return walks.map(({ rows }) => rows.length > 0);
    });
  }

  async set(call: AnyCall, bindings: readonly SnmpBinding[], beforeSend: () => void): Promise<Outcome> {
    return this.#exclusive(call, async () => {
      // Without this, SNMP 3 would have to ask for the device's engine and clock first, and the SET would leave in a later turn.
      if (!(await this.#open(call)).isInStep) await this.#values(call, [SYS_UP_TIME]);
      const link = await this.#open(call);
      if (call.ended !== undefined) throw call.endedError();
      const varbinds = bindings.map(({ oid, integer }): Varbind => ({ oid, type: ObjectType.Integer, value: integer }));
      const asked = `SET ${bindings.map(({ oid, integer }) => `${oid}=${integer}`).join(' ')}`;
      const answer = await link.write(this.#clock, SET_PATIENCE_MS, call.signal, varbinds, beforeSend);
      return this.#outcome(call, asked, answer, link);
    });
  }

  /** Ends the session and its socket. Never rejects. */
  async close(): Promise<void> {
    this.#drop();
    await Promise.resolve();
  }

  async #exclusive<T>(call: AnyCall, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let done: () => void = () => undefined;
    this.#last = new Promise<void>((resolve) => (done = resolve));
    try {
      await call.within(before);
      if (call.ended !== undefined) throw call.endedError();
      return await work();
    } finally {
      // Those behind wait for whoever is still before us, too.
      void before.then(done);
    }
  }

  async #open(call: AnyCall): Promise<Link> {
    if (this.#link?.isLost === false) return this.#link;
    const opening = Link.open(this.#settings, this.#check);
    let isWanted = true;
    opening.then(
      (link) => {
        if (!isWanted) link.close();
      },
      () => undefined,
    );
    try {
      return (this.#link = await call.within(opening));
    } catch (error) {
      isWanted = false;
      if (call.ended !== undefined) throw call.endedError();
      if (error instanceof AddressRefused) throw call.error('Misconfigured', error.message);
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
      throw call.error('Unreachable', `no way to ${this.#settings.host}: ${code}`);
    }
  }

  #drop(): void {
    this.#link?.close();
    this.#link = undefined;
  }

  async #values(call: AnyCall, oids: readonly string[]): Promise<(SnmpValue | undefined)[]> {
    if (oids.length > NAMES_PER_REQUEST) return this.#halves(call, oids);
    const answer = await this.#read<Varbind[]>(call, (session, done) => session.get([...oids], done));
    if (answer.kind === 'value') return answer.value.map(valueOf);
    const isPartial = answer.status === NO_SUCH_NAME || answer.status === TOO_BIG;
    if (isPartial && oids.length > 1) return this.#halves(call, oids);
    if (answer.status === NO_SUCH_NAME) return [undefined];
    throw call.error(UNCLEAR.has(answer.status) ? 'Unreachable' : 'Refused', `the device answered ${answer.message}`);
  }

  async #halves(call: AnyCall, oids: readonly string[]): Promise<(SnmpValue | undefined)[]> {
    const middle = Math.ceil(oids.length / 2);
    const first = await this.#values(call, oids.slice(0, middle));
    return [...first, ...(await this.#values(call, oids.slice(middle)))];
  }

  /** The next rows of each walk. */
  async #further(call: AnyCall, walks: readonly Walk[], rowsEach: number): Promise<void> {
    const from = walks.map(({ last }) => last);
    const answer = await this.#read<(Varbind | Varbind[])[]>(call, (session, done) =>
      this.#settings.security.version === '1' ? session.getNext(from, done) : session.getBulk(from, 0, rowsEach, done),
    );
    if (answer.kind === 'status') {
      const isEnd = answer.status === NO_SUCH_NAME;
      // SNMP 1 answers for none of them when one is at the end of all that the device has.
      if ((isEnd || answer.status === TOO_BIG) && walks.length > 1) {
        for (const walk of walks) await this.#further(call, [walk], rowsEach);
        return;
      }
      const [walk] = walks;
      if (!isEnd || walk === undefined) throw call.error('Unreachable', `the device answered ${answer.message}`);
      walk.isOver = true;
      return;
    }
    for (const [place, walk] of walks.entries()) take(call, walk, [answer.value[place] ?? []].flat());
  }

  /** One read; a second time over a new session when one that had worked is of no use any more: a restarted device has a new clock. */
  async #read<T>(call: AnyCall, send: ReadSender<T>): Promise<Heard<T>> {
    for (;;) {
      const link = await this.#open(call);
      const hadAnswered = link.isInStep;
      const answer = await link.read<T>(this.#clock, Math.min(TRIES * this.#settings.tryMs, call.remainingMs - OWN_WORDS_MS), call.signal, send);
      if (answer?.kind === 'value' || answer?.kind === 'status') return answer;
      this.#drop();
      if (answer?.kind === 'broken' && hadAnswered && call.ended === undefined) continue;
      if (answer === undefined) throw this.#silence(call, link);
      const kind = answer.kind === 'broken' && answer.isCredential ? 'Refused' : 'Unreachable';
      throw call.error(kind, answer.kind === 'broken' ? `the device answered ${answer.message}` : `the system says ${answer.message}`);
    }
  }

  #silence(call: AnyCall, link: Link): Error {
    if (call.ended === 'aborted') return call.endedError();
    const { security } = this.#settings;
    const hint = security.version === '3' ? 'user and context' : 'community';
    const besides = link.oddity === '' ? '' : `; what came was ${link.oddity}`;
    const message = `no answer by SNMP ${security.version}${besides} (devices are silent to a wrong ${hint} or version, too)`;
    return call.error(call.ended === 'deadline' ? 'Timeout' : 'Unreachable', message);
  }

  #outcome(call: AnyCall, asked: string, answer: Answer<true> | undefined, link: Link): Outcome {
    switch (answer?.kind) {
      case 'value':
        return { result: 'accepted', detail: `${asked}: noError` };
      case 'status':
        if (UNCLEAR.has(answer.status)) return { result: 'unclear', detail: `${asked}: ${answer.message}` };
        throw call.error('Refused', `the device answered ${answer.message} to ${asked}`);
      case 'failed':
        this.#drop();
        throw call.error('Unreachable', `${asked}: the system says ${answer.message}`);
      case 'broken':
        this.#drop();
        return { result: 'unclear', detail: `${asked}: ${answer.message}` };
      case undefined:
        if (this.#settings.security.version === '3') this.#drop();
        return {
          result: 'unclear',
          detail: `${asked}: no answer${link.oddity === '' ? '' : `; what came was ${link.oddity}`} (many devices are silent to who may only read)`,
        };
    }
  }
}

interface Walk {
  root: string;
  last: string;
  rows: SnmpRow[];
  isOver: boolean;
}

/** Takes what came into the walk, as far as it belongs to it. */
function take(call: AnyCall, walk: Walk, varbinds: readonly Varbind[]): void {
  const before = walk.rows.length;
  for (const varbind of varbinds) {
    const value = valueOf(varbind);
    walk.isOver = value === undefined || !varbind.oid.startsWith(`${walk.root}.`);
    if (value === undefined || walk.isOver) return;
    if (compareOids(varbind.oid, walk.last) <= 0) throw call.error('Unreachable', `the device's table does not go forward behind ${walk.last}`);
    walk.last = varbind.oid;
    walk.rows.push({ oid: varbind.oid, index: varbind.oid.slice(walk.root.length + 1), value });
  }
  walk.isOver = walk.rows.length === before;
}

type ReadSender<T> = Parameters<typeof Link.prototype.read<T>>[3];
type Heard<T> = Extract<Answer<T>, { kind: 'value' | 'status' }>;
