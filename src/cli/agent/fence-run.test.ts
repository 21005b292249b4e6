import { describe, expect, it } from 'vitest';

import type { AgentDefinition, PowerAgent, PowerState, Target } from '../../ports/agents.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FenceFailure, FenceRun } from './fence-run.ts';

/** Time goes on by itself as soon as nothing else is to be done: no machine is too busy for it. */
class EagerClock extends ManualClock {
  #isMoving = false;

  override after(delayMs: number, callback: () => void): () => void {
    const cancel = super.after(delayMs, callback);
    if (!this.#isMoving) void this.#moveOn();
    return cancel;
  }

  async #moveOn(): Promise<void> {
    this.#isMoving = true;
    await this.settle();
    for (let nextInMs = this.nextInMs; nextInMs !== undefined; nextInMs = this.nextInMs) await this.advance(nextInMs);
    this.#isMoving = false;
  }
}

/** A PDU of variables. */
class Pdu implements PowerAgent {
  readonly kind = 'power';
  readonly states = new Map<string, PowerState>();
  /** What it shows next, read by read; then what it was told. */
  readonly moves = new Map<string, PowerState[]>();
  readMs = 0;
  readonly stuck = new Set<string>();
  readonly calls: string[] = [];
  /** What a second witness says of every plug. */
  witness: PowerState | undefined;
  closed = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read({ plug }: Target) {
    if (this.readMs > 0) await this.#clock.sleep(this.readMs, new AbortController().signal);
    const state = this.moves.get(plug)?.shift() ?? this.states.get(plug) ?? 'unknown';
    if (this.moves.has(plug)) this.states.set(plug, state);
    const witness =
      this.witness === undefined ? {} : { witness: { source: 'meter', state: this.witness, detail: 'meter', waiver: 'meter=no does without it' } };
    return { state, detail: `${plug} is ${state}`, identity: 'unverified' as const, ...witness };
  }

  async set(target: Target, state: 'on' | 'off') {
    const { plug } = target;
    target.beforeSend();
    this.calls.push(`${state} ${plug}`);
    if (!this.stuck.has(plug) && (this.moves.get(plug) ?? []).length === 0) this.states.set(plug, state);
    return { result: 'accepted' as const, detail: 'yes' };
  }

  async close() {
    this.closed += 1;
  }
}

function start(states: Record<string, PowerState>, powerTimeoutMs = 10_000) {
  const clock = new EagerClock();
  const pdu = new Pdu(clock);
  for (const [plug, state] of Object.entries(states)) pdu.states.set(plug, state);
  const definition: AgentDefinition = {
    name: 'toy',
    aliases: [],
    kind: 'power',
    actions: ['on', 'off', 'reboot'],
    deviceMaxLatencyMs: 0,
    deviceKey: () => 'pdu',
    describe: () => [],
    check: () => [],
    create: async () => pdu,
  };
  const request = { action: '', plugs: Object.keys(states), parameters: {}, delayMs: 0, powerTimeoutMs, separator: ',' };
  const controller = new AbortController();
  return { pdu, clock, controller, run: new FenceRun(definition, { cluster: {} as Cluster, clock }, request, controller.signal) };
}

describe('a call for several plugs', () => {
  it('switches each off once, and is done when all are off together', async () => {
    const { pdu, run } = start({ 1: 'on', 2: 'on' });
    expect(await run.off()).toBe('done');
    expect(pdu.calls).toEqual(['off 1', 'off 2']);
    expect(await run.off()).toBe('already');
    expect(pdu.calls).toHaveLength(2);
    expect(await run.on()).toBe('done');
    expect(await run.on()).toBe('already');
    expect(pdu.calls.slice(2)).toEqual(['on 1', 'on 2']);
    await run.close();
    expect(pdu.closed).toBeGreaterThan(0);
  });

  it('is on as long as one of them is', async () => {
    expect(await start({ 1: 'off', 2: 'on' }).run.status()).toBe('on');
    expect(await start({ 1: 'off', 2: 'off' }).run.status()).toBe('off');
  });

  it('fails when the last one only says that it obeys', async () => {
    const { pdu, run } = start({ 1: 'on', 2: 'on' });
    pdu.stuck.add('2');
    await expect(run.off()).rejects.toThrow(/^Failed: Timed out: not off within 10000 ms/);
    expect(pdu.calls).toEqual(['off 1', 'off 2']);
  });

  it('switches nothing when one of them is unknown', async () => {
    const { pdu, run } = start({ 1: 'on', 2: 'unknown' });
    for (const action of [() => run.off(), () => run.on(), () => run.status()]) await expect(action()).rejects.toBeInstanceOf(FenceFailure);
    expect(pdu.calls).toEqual([]);
  });

  it('says of one that is on its way that it shows neither, where only its state is asked for', async () => {
    await expect(start({ 1: 'on', 2: 'pending' }).run.status()).rejects.toThrow('Unable to obtain correct plug status: 2 is pending');
  });

  it('sends an off of its own to what is on its way, and waits until it is off', async () => {
    const { pdu, run } = start({ 1: 'pending' });
    pdu.moves.set('1', ['pending', 'pending', 'pending', 'pending', 'off']);
    expect(await run.off()).toBe('done');
    expect(pdu.calls).toEqual(['off 1']);
    const never = start({ 1: 'pending' });
    never.pdu.stuck.add('1');
    await expect(never.run.off()).rejects.toThrow(
      /^Failed: Timed out: not off within 10000 ms; last read 1: 1 is pending.*power_timeout gives 10 s/u,
    );
  });

  it.each([
    ['on', 'already', []],
    ['off', 'done', ['on 1']],
  ] as const)('waits for what is on its way to %s before it is switched on', async (end, result, calls) => {
    const { pdu, run } = start({ 1: 'pending' });
    pdu.moves.set('1', ['pending', 'pending', 'pending', end]);
    expect(await run.on()).toBe(result);
    expect(pdu.calls).toEqual(calls);
  });

  it('gives an on up when it is on its way for ever, with nothing sent', async () => {
    const { pdu, run } = start({ 1: 'pending' });
    await expect(run.on()).rejects.toThrow('Failed: Timed out: on its way for all of 10000 ms: 1 is pending; nothing was sent');
    expect(pdu.calls).toEqual([]);
  });

  it('still has time for an off of its own when a plug that read off comes on meanwhile', async () => {
    const { pdu, run } = start({ 1: 'off' });
    pdu.moves.set('1', ['off', 'off', 'on']);
    expect(await run.off()).toBe('done');
    expect(pdu.calls).toEqual(['off 1']);
  });

  it('believes the witness that still sees power', async () => {
    const { pdu, run } = start({ 1: 'off' });
    pdu.witness = 'on';
    expect(await run.status()).toBe('on');
    expect(run.remarks).toEqual(['plug 1 counts as on, for not all agree: 1 is off, meter meter (meter=no does without it)']);
    await expect(run.off()).rejects.toThrow(/Timed out.*meter=no does without it/u);
    pdu.witness = 'off';
    expect(await run.off()).toBe('already');
  });

  it('waits for one slow answer as long as power_timeout allows, and for all of them together no longer', async () => {
    const slow = start({ 1: 'on' }, 40_000);
    slow.pdu.readMs = 9_000;
    expect(await slow.run.status()).toBe('on');
    const slower = start({ 1: 'on', 2: 'on' }, 40_000);
    slower.pdu.readMs = 16_000;
    const beganAtMs = slower.clock.monotonicMs();
    await expect(slower.run.off()).rejects.toThrow(/Timed out: .*power_timeout gives 40 s for all of it/u);
    expect(slower.clock.monotonicMs() - beganAtMs).toBeLessThan(48_000);
    const mute = start({ 1: 'on' });
    mute.pdu.readMs = 1_000_000;
    await expect(mute.run.status()).rejects.toThrow(/no complete answer within (10000|9\d\d\d) ms; power_timeout gives 10 s for all of it/u);
  });

  it('sends nothing once it is told to stop', async () => {
    const { pdu, controller, run } = start({ 1: 'on' });
    controller.abort(new Error('SIGTERM'));
    await expect(run.off()).rejects.toThrow('SIGTERM');
    expect(pdu.calls).toEqual([]);
  });
});
