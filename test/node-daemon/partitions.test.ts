import { describe, expect, it } from 'vitest';

import { ControllerModel } from './model/controller-model.ts';
import { DaemonWorld } from './model/world.ts';

/**
 * Worlds in which links break and heal at random, daemons are killed and started anew, controllers fall silent, pods stop slowly or never, while the controller
 * ends the grants of one node and counts. Whoever counts may conclude nothing before the node is harmless.
 */
const WORLDS = Number(process.env['NODEFENCE_PARTITIONS'] ?? '60');
/** From the page of timings, by hand: 1.01 / 0.99 · (5 + 40 + 30 + 10 + 10) s + 3 s. */
const PROVES_AFTER_MS = 99_919;
const NODES = ['a', 'b', 'c', 'd'];
const PEERS = Object.fromEntries(NODES.map((node) => [node, NODES.filter((other) => other !== node)]));
const RACKS: readonly Readonly<Record<string, string>>[] = [
  {},
  {},
  { a: 'r1', b: 'r1', c: 'r2', d: 'r3' },
  { a: 'r1', b: 'r1', c: 'r2', d: 'r2' },
  { a: 'r1', b: 'r2', c: 'r2', d: 'r2' },
  { a: 'r1', b: 'r1', c: 'r1', d: 'r1' },
];
const PLACES = [...NODES, 'controller', 'api'];

describe('a node whose grants were ended', () => {
  it(`is harmless before its watchdog proves it, in ${WORLDS} worlds of random partitions`, async () => {
    const tooEarly: string[] = [];
    let proven = 0;
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const { evidenceAtMs, harmlessSinceMs = Infinity, story } = await play(seed);
      if (evidenceAtMs !== undefined) proven += 1;
      if (evidenceAtMs !== undefined && harmlessSinceMs > evidenceAtMs) tooEarly.push(`seed ${seed}: ${story.join('; ')}`);
    }
    expect(tooEarly).toEqual([]);
    expect(proven, 'worlds in which it was proven').toBeGreaterThan(WORLDS / 3);
  }, 600_000);
});

/** Mulberry32: enough for a story, and the same for everybody. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function play(seed: number): Promise<{ evidenceAtMs: number | undefined; harmlessSinceMs: number | undefined; story: string[] }> {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const world = new DaemonWorld();
  const controller = new ControllerModel(world);
  const racks = pick(RACKS);
  controller.assign(PEERS, racks);
  for (const node of NODES) await world.machine(node, { podStopMs: pick([500, 10_000, 29_000, 900_000]) }).daemon.start();
  world.latencyMs = pick([1, 40, 400]);
  await world.run(33_000, 100);
  const story: string[] = [`latency ${world.latencyMs}`];
  const say = (what: string): void => {
    story.push(`${Math.round((world.clock.monotonicMs() - 1_033_000) / 1000)} s ${what}`);
  };
  const a = world.machines.get('a');
  if (a === undefined) throw new Error('no machine a');
  const endsAfter = Math.floor(random() * 60);
  let version = '';
  let sinceMs = 0;
  for (let second = 0; second < 320; second += 1) {
    if (second === endsAfter && controller.attested('a')?.watchdog?.state === 'armed') {
      controller.end('a');
      say('grants ended');
    }
    if (random() < 0.02) {
      const anew = pick(RACKS);
      controller.assign(PEERS, anew);
      say(`racks ${JSON.stringify(anew)}`);
    }
    if (random() < 0.08) say(breakSomething(world, controller, pick, random));
    // Like whoever counts: whatever is written anew begins the wait anew.
    const shown = `${world.object('Lease', 'nodefence-node-a')?.metadata.resourceVersion ?? ''} ${controller.endedAtMs.get('a') ?? 'open'}`;
    const nowMs = world.clock.monotonicMs();
    if (shown !== version) [version, sinceMs] = [shown, nowMs];
    const isCounting = controller.endedAtMs.has('a') && controller.attested('a')?.watchdog?.state === 'armed';
    if (isCounting && nowMs - sinceMs >= PROVES_AFTER_MS) {
      return { evidenceAtMs: nowMs, harmlessSinceMs: a.harmlessSinceMs, story };
    }
    await world.run(1_000, 100);
  }
  return { evidenceAtMs: undefined, harmlessSinceMs: a.harmlessSinceMs, story };
}

function breakSomething(world: DaemonWorld, controller: ControllerModel, pick: <T>(list: readonly T[]) => T, random: () => number): string {
  const what = pick(['cut', 'cut', 'isolate a', 'heal', 'kill', 'silence', 'lose answers'] as const);
  if (what === 'cut') {
    const [from, to] = [pick(PLACES), pick(PLACES)];
    world.cut.add(`${from}>${to}`);
    return `cut ${from}>${to}`;
  }
  if (what === 'isolate a') for (const place of PLACES) world.cut.add(`a>${place}`).add(`${place}>a`);
  if (what === 'heal') world.cut.clear();
  if (what === 'silence') controller.isSilent = random() < 0.5;
  if (what === 'lose answers') world.losesAnswers[random() < 0.5 ? 'add' : 'delete']('a');
  if (what !== 'kill') return what;
  const machine = world.machines.get(pick(NODES));
  if (machine === undefined || machine.isDead) return 'nothing';
  machine.kill();
  const restartMs = Math.floor(random() * 15_000);
  world.clock.after(restartMs, () => {
    if (machine.isDead) return;
    machine.restart();
    void machine.daemon.start();
  });
  return `${machine.name} killed, started anew after ${restartMs} ms`;
}
