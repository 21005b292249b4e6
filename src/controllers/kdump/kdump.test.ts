import { describe, expect, it } from 'vitest';
import { KDUMP_ADDRESSES, readRecords, recordKey, writeRecords } from '../../domain/kdump/record.ts';
import type { DumpRecord } from '../../domain/kdump/record.ts';
import type { KdumpResult } from '../../domain/kdump/message.ts';
import { EMPTY_PLAN } from '../../domain/plan.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { KubeObject, Lease, Node } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { KdumpController } from './controller.ts';
import { DumpLedger } from './ledger.ts';
import { MessageSources } from './sources.ts';
import { tell } from './telling.ts';

const MESSAGE = Uint8Array.of(0x40, 0x2a, 0x30, 0x1b, 1, 0, 0, 0);
const quiet = (): void => undefined;

function listerOf<T extends KubeObject>(items: T[]): Lister<T> & { changed: (before: T | undefined, after: T | undefined) => void } {
  const listeners: ((before: T | undefined, after: T | undefined) => void)[] = [];
  return {
    synced: true,
    freshAtMs: Infinity,
    get: (key) => items.find(({ metadata }) => key === metadata.name || key === `${metadata.namespace ?? ''}/${metadata.name}`),
    all: () => items,
    byIndex: () => items,
    onChange: (listener) => {
      listeners.push(listener);
      return quiet;
    },
    changed: (before, after) => {
      for (const listener of listeners) listener(before, after);
    },
  };
}

function nodeOf(name: string, addresses: string[], more: { pods?: string[]; others?: string; ready?: 'True' | 'Unknown' } = {}): Node {
  return {
    metadata: { name, ...(more.others === undefined ? {} : { annotations: { [KDUMP_ADDRESSES]: more.others } }) },
    spec: { ...(more.pods === undefined ? {} : { podCIDRs: more.pods }) },
    status: {
      addresses: addresses.map((address) => ({ type: 'InternalIP', address })),
      conditions: [{ type: 'Ready', status: more.ready ?? 'Unknown', reason: '', lastTransitionTime: '' }],
    },
  };
}

describe('where a message comes from', () => {
  const nodes = listerOf([
    nodeOf('a', ['192.0.2.1', '2001:db8::1'], { pods: ['10.244.1.0/24', 'fd00:10::/64'], others: '198.51.100.1, 198.51.100.2' }),
    nodeOf('b', ['192.0.2.2', '192.0.2.9', '10.244.1.5'], { pods: ['10.244.2.0/24'] }),
    nodeOf('c', ['192.0.2.9']),
  ]);
  const sources = new MessageSources(nodes);

  it.each<[from: string, source: ReturnType<MessageSources['of']>]>([
    ['192.0.2.1', { node: 'a' }],
    ['2001:db8:0::1', { node: 'a' }],
    ['198.51.100.2', { node: 'a' }],
    ['192.0.2.2', { node: 'b' }],
    ['192.0.2.9', { problem: 'ambiguous-source' }],
    ['192.0.2.3', { problem: 'unknown-source' }],
    ['10.244.1.9', { problem: 'pod-network' }],
    ['10.244.1.5', { problem: 'pod-network' }],
    ['fd00:10::7', { problem: 'pod-network' }],
    ['not an address', { problem: 'unknown-source' }],
  ])('%s', (from, source) => {
    expect(sources.of(from)).toEqual(source);
  });

  it('follows Nodes whose addresses change', () => {
    const items = [nodeOf('a', ['192.0.2.1'])];
    const lister = listerOf(items);
    const changing = new MessageSources(lister);
    expect(changing.of('192.0.2.7')).toEqual({ problem: 'unknown-source' });
    const [before] = items;
    items[0] = nodeOf('a', ['192.0.2.7']);
    lister.changed(before, items[0]);
    expect(changing.of('192.0.2.7')).toEqual({ node: 'a' });
  });
});

describe('what was heard', () => {
  const WALL = Date.UTC(2026, 0, 1);
  const RECORD: DumpRecord = { source: '192.0.2.1', first: '2026-01-01T00:00:00.000Z', last: '2026-01-01T00:01:00.000Z', count: 9, state: 'DUMPING' };

  it('counts from the first message after the kubelet was last heard, and never moves for more messages', () => {
    const life = { atMs: 0 };
    const ledger = new DumpLedger(
      () => life.atMs,
      () => undefined,
    );
    ledger.hear('a', '192.0.2.1', 1_000, WALL);
    ledger.hear('a', '192.0.2.1', 6_000, WALL + 5_000);
    expect(ledger.heardOf('a', 7_000, WALL)).toMatchObject({ firstMs: 1_000, lastMs: 6_000, count: 2 });
    ledger.hear('a', '192.0.2.1', 500_000, WALL + 499_000);
    expect(ledger.heardOf('a', 500_000, WALL), 'a long pause begins no other dump').toMatchObject({ firstMs: 1_000, count: 3 });
    life.atMs = 600_000;
    expect(ledger.heardOf('a', 600_001, WALL)).toBeUndefined();
    ledger.hear('a', '192.0.2.1', 700_000, WALL);
    expect(ledger.heardOf('a', 700_000, WALL)).toMatchObject({ firstMs: 700_000, count: 1 });
  });

  it('of another replica is as old as that replica says, whenever this process began: no restart extends the limit', () => {
    const ledger = new DumpLedger(
      () => 0,
      () => undefined,
    );
    ledger.see(new Map([['other', new Map([['a', RECORD]])]]), 10_000, WALL + 900_000);
    expect(ledger.heardOf('a', 10_000, WALL + 900_000)).toMatchObject({ firstMs: 10_000 - 900_000, lastMs: 10_000 - 22_000, count: 9 });
    ledger.hear('a', '192.0.2.1', 12_000, WALL + 902_000);
    expect(ledger.heardOf('a', 12_000, WALL + 902_000)).toMatchObject({ firstMs: 12_000 - 902_000, lastMs: 12_000, count: 9 });
  });

  it('of another replica is silent since its last message, not since it was read here', () => {
    const ledger = new DumpLedger(
      () => 0,
      () => undefined,
    );
    ledger.see(new Map([['other', new Map([['a', RECORD]])]]), 100_000, Date.parse(RECORD.last) + 7_000);
    expect(ledger.heardOf('a', 101_000, WALL)?.lastMs).toBe(93_000);
    ledger.see(new Map([['other', new Map([['a', RECORD]])]]), 120_000, Date.parse(RECORD.last) + 27_000);
    expect(ledger.heardOf('a', 121_000, WALL)?.lastMs).toBe(93_000);
  });

  it('of another replica before the last renewal of the kubelet is past', () => {
    const ledger = new DumpLedger(
      () => 0,
      () => Date.parse(RECORD.last) + 1,
    );
    ledger.see(new Map([['other', new Map([['a', RECORD]])]]), 10_000, WALL);
    expect(ledger.heardOf('a', 10_000, WALL)).toBeUndefined();
  });

  it('is bounded: a flood for more nodes is dropped', () => {
    const ledger = new DumpLedger(
      () => 0,
      () => undefined,
    );
    const kept = Array.from({ length: 1_000 }, (_, index) => ledger.hear(`node-${index}`, '192.0.2.1', 1_000, WALL)).filter(Boolean);
    expect(kept).toHaveLength(128);
  });

  it('is read back as it was written, and what is not whole is left out', () => {
    const annotations = {
      [recordKey('me')]: writeRecords(new Map([['a', RECORD]])),
      [recordKey('other')]: JSON.stringify({
        a: RECORD,
        b: { ...RECORD, count: 0 },
        c: { ...RECORD, source: 'evil words' },
        d: { ...RECORD, first: 'then' },
        e: 7,
      }),
      [recordKey('broken')]: '{',
      foreign: writeRecords(new Map([['a', RECORD]])),
    };
    const read = readRecords(annotations, recordKey('me'));
    expect([...(read.get('other') ?? [])]).toEqual([['a', RECORD]]);
    expect([...read.keys()]).toEqual(['other', 'broken']);
    expect(read.get('broken')?.size).toBe(0);
  });
});

describe('a flood', () => {
  it('of 100,000 datagrams costs no write, no wake and no line of log for each', async () => {
    const clock = new ManualClock();
    const counts = new Map<KdumpResult, number>();
    const done = { writes: 0, woken: 0, logged: 0 };
    const lifeAtMs = clock.monotonicMs() - 60_000;
    let hear: (bytes: Uint8Array, from: string) => void = quiet;
    const line = (): void => void (done.logged += 1);
    const write = (): Promise<never> => {
      done.writes += 1;
      return Promise.resolve({} as never);
    };
    const controller = new KdumpController({
      clock,
      cluster: { mergePatch: write, create: write, get: write, replaceStatus: write } as unknown as Cluster,
      log: { debug: line, info: line, warn: line, error: line },
      recorder: { event: quiet },
      metrics: { message: (result) => void counts.set(result, (counts.get(result) ?? 0) + 1), dumps: quiet, acted: quiet, problems: quiet },
      leadership: { isLeading: false, mayBegin: () => false },
      socket: { receive: (handle) => void (hear = handle), close: quiet },
      planner: { planFor: () => EMPTY_PLAN },
      listers: { nodes: listerOf([nodeOf('a', ['192.0.2.1'])]), reports: listerOf([]), leases: listerOf<Lease>([]), records: listerOf<Lease>([]) },
      lifeAtMs: () => lifeAtMs,
      failureOf: () => undefined,
      isArmed: () => false,
      wake: () => void (done.woken += 1),
      tellProblems: quiet,
      options: { namespace: 'fences', replica: 'me' },
    });
    controller.start();
    for (let second = 0; second < 100; second += 1) {
      for (let index = 0; index < 250; index += 1) {
        hear(MESSAGE, '192.0.2.1');
        hear(MESSAGE, '203.0.113.9');
        hear(Uint8Array.of(1, 2, 3), '192.0.2.1');
        hear(new Uint8Array(8), '192.0.2.1');
      }
      await clock.advance(1_000);
    }
    expect(Object.fromEntries(counts)).toEqual({ accepted: 25_000, 'unknown-source': 25_000, 'wrong-length': 25_000, 'wrong-magic': 25_000 });
    expect(done.writes).toBeLessThanOrEqual(12);
    expect(done.woken).toBeLessThanOrEqual(3);
    expect(done.logged).toBe(0);
    await controller.close();
  });
});

describe('what is told of a dump', () => {
  const heard = { source: '192.0.2.1', firstMs: 10_000, lastMs: 20_000, count: 2, first: '2026-01-01T00:00:00.000Z' };
  const node = { ready: 'Unknown' as const, lifeAtMs: 0 };
  const times = { finishedTimeoutMs: 60_000, maxDurationMs: 1_800_000 };
  const standing = (status: 'True' | 'False', message: string) => ({
    metadata: { name: 'a' },
    status: { conditions: [{ type: 'KernelDump', status, reason: '', message, lastTransitionTime: '' }] },
  });
  const begun = standing('True', `2 kdump messages came from 192.0.2.1 since ${heard.first}: its kernel dumps; x.`);

  it('its begin, once', () => {
    const told = tell({ heard, node, times, nowMs: 25_000, isHeld: true }, undefined);
    expect(told).toMatchObject({ event: 'KdumpStarted', reason: 'Dumping' });
    expect(tell({ heard, node, times, nowMs: 25_000, isHeld: true }, begun as never)).toBeUndefined();
  });

  it('says so where nothing waits for it', () => {
    expect(tell({ heard, node, times, nowMs: 25_000, isHeld: false }, undefined)?.message).toContain('kdump_enabled is off');
  });

  it.each([
    ['its silence', 'Finished', { heard, node, nowMs: 80_000 }],
    ['its limit', 'LimitOver', { heard: { ...heard, lastMs: 1_900_000 }, node, nowMs: 1_900_001 }],
    ['life', 'Alive', { heard: undefined, node, nowMs: 25_000 }],
  ])('its end by %s', (_what, reason, facts) => {
    expect(tell({ ...facts, times, isHeld: true }, begun as never)).toMatchObject({ event: 'KdumpFinished', reason });
  });

  it('the same dump is not begun anew by messages after a pause', () => {
    const over = standing('False', `The dump that began at ${heard.first} is over for the fence: no message came for 60 s, after 2.`);
    expect(tell({ heard: { ...heard, lastMs: 100_000 }, node, times, nowMs: 100_001, isHeld: true }, over as never)).toBeUndefined();
  });

  it.each([
    ['one message', { ...heard, count: 1 }, node],
    ['a node that is Ready', heard, { ...node, ready: 'True' as const }],
    ['a kubelet that was heard since', heard, { ...node, lifeAtMs: 20_000 }],
  ])('nothing for %s', (_what, messages, facts) => {
    expect(tell({ heard: messages, node: facts, times, nowMs: 33_000, isHeld: true }, undefined)).toBeUndefined();
  });
});
