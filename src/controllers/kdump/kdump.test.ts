import { describe, expect, it } from 'vitest';
import { readRecords, recordKey, writeRecords } from '../../domain/kdump/record.ts';
import type { DumpRecord } from '../../domain/kdump/record.ts';
import type { KdumpResult } from '../../domain/kdump/message.ts';
import { EMPTY_PLAN } from '../../domain/plan.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { KdumpController } from './controller.ts';
import { DumpRecords } from './records.ts';
import { DumpLedger } from './ledger.ts';
import type { LedgerParts } from './ledger.ts';
import { RefusedSources } from './refused-sources.ts';
import { MessageSources } from './sources.ts';
import { listerOf, MESSAGE, nodeOf, quiet } from './testing/listers.ts';

function ledgerOf(parts: Partial<LedgerParts> = {}): DumpLedger {
  return new DumpLedger({
    lifeAtMs: () => 0,
    renewedAtMs: () => undefined,
    finishedTimeoutMs: () => 60_000,
    bootID: () => undefined,
    host: 'here',
    ...parts,
  });
}

describe('where a message comes from', () => {
  const nodes = listerOf([
    nodeOf('a', ['192.0.2.1', '2001:db8::1'], { pods: ['10.244.1.0/24', 'fd00:10::/64'], others: '198.51.100.1, 198.51.100.2' }),
    nodeOf('b', ['192.0.2.2', '192.0.2.9', '10.244.1.5'], { pods: ['10.244.2.0/24'], others: '198.51.100.9,192.0.2.1' }),
    nodeOf('c', ['192.0.2.9'], { others: '198.51.100.9 192.0.2.1' }),
  ]);
  const sources = new MessageSources(nodes);

  it.each<[from: string, source: ReturnType<MessageSources['of']>]>([
    ['192.0.2.1', { node: 'a' }],
    ['2001:db8:0::1', { node: 'a' }],
    ['198.51.100.2', { node: 'a' }],
    ['192.0.2.2', { node: 'b' }],
    ['192.0.2.9', { problem: 'ambiguous-source', nodes: ['b', 'c'] }],
    ['::ffff:192.0.2.1', { node: 'a' }],
    ['198.51.100.9', { problem: 'ambiguous-source', nodes: ['b', 'c'] }],
    ['192.0.2.3', { problem: 'unknown-source' }],
    ['10.244.1.9', { problem: 'pod-network' }],
    ['10.244.1.5', { problem: 'pod-network' }],
    ['fd00:10::7', { problem: 'pod-network' }],
    ['not an address', { problem: 'unknown-source' }],
  ])('%s', (from, source) => {
    expect(sources.of(from)).toEqual(source);
  });

  it('is that of its status, whatever other nodes claim in their annotations', () => {
    expect(sources.of('192.0.2.1')).toEqual({ node: 'a' });
  });

  it('is told where it is of no node: one source of each kind at a time, so that no flood is a flood of words', () => {
    const refused = new RefusedSources();
    refused.add({ problem: 'ambiguous-source', nodes: ['b', 'c', 'd', 'e'] }, '192.0.2.9', 0);
    for (let index = 0; index < 1_000; index += 1) refused.add({ problem: 'unknown-source' }, `203.0.113.${index}`, index);
    expect(refused.problems(1_000)).toEqual([
      expect.stringMatching(/^kdump messages came from 192\.0\.2\.9, an address of the Nodes b, c, d, \.\.\., and hold nothing: .*kdump-addresses/),
      expect.stringMatching(/^kdump messages came from 203\.0\.113\.0, which is the address of no Node, .*kdump-addresses/),
    ]);
    expect(refused.problems(600_000)).toEqual([]);
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
    const ledger = ledgerOf({ lifeAtMs: () => life.atMs });
    ledger.hear('a', '192.0.2.1', 1_000, WALL);
    ledger.hear('a', '192.0.2.1', 6_000, WALL + 5_000);
    expect(ledger.heardOf('a')).toMatchObject({ firstMs: 1_000, lastMs: 6_000, count: 2 });
    ledger.hear('a', '192.0.2.1', 500_000, WALL + 499_000);
    expect(ledger.heardOf('a'), 'a long pause begins no other dump').toMatchObject({ firstMs: 1_000, count: 3 });
    life.atMs = 600_000;
    expect(ledger.heardOf('a')).toBeUndefined();
    ledger.hear('a', '192.0.2.1', 700_000, WALL);
    expect(ledger.heardOf('a')).toMatchObject({ firstMs: 700_000, count: 1 });
  });

  it('of another replica is as old as that replica says, whenever this process began: no restart extends the limit', () => {
    const ledger = ledgerOf();
    ledger.see(new Map([['other', new Map([['a', RECORD]])]]), 10_000, WALL + 900_000);
    expect(ledger.heardOf('a')).toMatchObject({ firstMs: 10_000 - 900_000, lastMs: 10_000 - 22_000, count: 9 });
    ledger.hear('a', '192.0.2.1', 12_000, WALL + 902_000);
    expect(ledger.heardOf('a')).toMatchObject({ firstMs: 12_000 - 902_000, lastMs: 12_000, count: 9 });
  });

  it('of another replica is silent since its last message, not since it was read here', () => {
    const ledger = ledgerOf();
    ledger.see(new Map([['other', new Map([['a', RECORD]])]]), 100_000, Date.parse(RECORD.last) + 7_000);
    expect(ledger.heardOf('a')?.lastMs).toBe(93_000);
    ledger.see(new Map([['other', new Map([['a', RECORD]])]]), 120_000, Date.parse(RECORD.last) + 27_000);
    expect(ledger.heardOf('a')?.lastMs).toBe(93_000);
  });

  it('of another replica before the last renewal of the kubelet is past', () => {
    const ledger = ledgerOf({ renewedAtMs: () => Date.parse(RECORD.last) + 1 });
    ledger.see(new Map([['other', new Map([['a', RECORD]])]]), 10_000, WALL);
    expect(ledger.heardOf('a')).toBeUndefined();
  });

  it('of another replica is past once the node shows another boot than at its begin, whatever clocks say', () => {
    let boot = 'boot-old-1';
    const heard = ledgerOf({ bootID: () => boot });
    heard.hear('a', '192.0.2.1', 9_000, WALL);
    boot = 'boot-new-2';
    heard.hear('a', '192.0.2.1', 10_000, WALL);
    const written = heard.records(() => true, 10_000).get('a');
    expect(written).toMatchObject({ boot: 'boot-old', count: 2 });
    const text = writeRecords(new Map([['a', written!]])).text;
    const read = readRecords({ [recordKey('gone')]: text }, recordKey('own'));
    // The clock of the replica that heard it is a day ahead.
    const counts = ['boot-old-1', 'boot-new-2', undefined].map((now) => {
      const ledger = ledgerOf({ bootID: () => now, renewedAtMs: () => Date.parse(written!.last) - 86_400_000 });
      ledger.see(read, 10_000, WALL - 86_400_000);
      return ledger.heardOf('a')?.count;
    });
    expect(counts).toEqual([2, undefined, 2]);
  });

  it('of another replica is as long as that replica counted, however its clock on the wall is set', () => {
    const ledger = ledgerOf();
    ledger.see(new Map(), 1_000, WALL);
    const wrong = { ...RECORD, first: '2025-12-31T20:00:00.000Z', last: '2025-12-31T20:01:00.000Z', heardForMs: 60_000 };
    ledger.see(new Map([['other', new Map([['a', wrong]])]]), 100_000, WALL);
    expect(ledger.heardOf('a'), 'four hours behind: it began four hours ago for nobody').toMatchObject({ firstMs: 18_000, lastMs: 78_000 });
    const more = { ...wrong, last: '2025-12-31T22:01:10.000Z', heardForMs: 70_000, count: 11 };
    ledger.see(new Map([['other', new Map([['a', more]])]]), 110_000, WALL);
    expect(ledger.heardOf('a'), 'set anew in the midst of it').toMatchObject({ firstMs: 18_000, lastMs: 88_000 });
  });

  it('of another replica that was over before this process began is over', () => {
    const ledger = ledgerOf();
    ledger.see(new Map([['gone', new Map([['a', { ...RECORD, state: 'FINISHED' as const }]])]]), 100_000, Date.parse(RECORD.last));
    expect(ledger.heardOf('a')?.lastMs).toBe(40_000);
  });

  it('is written with the first message that anybody heard, so that the limit outlives whoever wrote it', () => {
    const ledger = ledgerOf();
    ledger.see(new Map([['gone', new Map([['a', RECORD]])]]), 100_000, Date.parse(RECORD.last));
    ledger.hear('a', '192.0.2.1', 105_000, Date.parse(RECORD.last) + 5_000);
    const written = ledger.records(() => true, 106_000).get('a');
    expect(written).toMatchObject({ first: RECORD.first, heardForMs: 65_000, count: 1, by: 'here' });
    const next = ledgerOf();
    next.see(new Map([['other', new Map([['a', written!]])]]), 1_000, Date.parse(RECORD.last) + 6_000);
    expect(next.heardOf('a')?.firstMs, 'when the record of the first is gone').toBe(1_000 - 66_000);
  });

  it('is not made older by two replicas that read each other', () => {
    const [one, two] = [ledgerOf(), ledgerOf()];
    for (const ledger of [one, two]) ledger.see(new Map(), 0, WALL);
    for (let nowMs = 1_000; nowMs < 600_000; nowMs += 10_000) {
      for (const [own, other, aheadMs] of [
        [one, two, 0],
        [two, one, 3_000],
      ] as const) {
        own.hear('a', '192.0.2.1', nowMs, WALL + nowMs + aheadMs);
        other.see(new Map([['other', own.records(() => true, nowMs)]]), nowMs, WALL + nowMs + 3_000 - aheadMs);
      }
    }
    expect(one.heardOf('a')?.firstMs).toBeGreaterThan(-4_000);
    expect(two.heardOf('a')?.firstMs).toBeGreaterThan(-4_000);
  });

  it('is written the same for as long as nothing more is heard', () => {
    const ledger = ledgerOf();
    ledger.hear('a', '192.0.2.1', 1_000, WALL + 0.4);
    const before = ledger.records(() => true, 2_000).get('a');
    expect(ledger.records(() => true, 30_000.7).get('a')).toEqual(before);
  });

  it('of a silent node has room beside a flood for healthy ones', () => {
    const life = new Map<string, number>([['dumping', 0]]);
    const ledger = ledgerOf({ lifeAtMs: (node) => life.get(node) ?? 95_000 });
    for (let index = 0; index < 128; index += 1) ledger.hear(`healthy-${index}`, '192.0.2.1', 100_000, WALL);
    expect(ledger.hear('dumping', '192.0.2.9', 100_001, WALL)).toBe(true);
    for (let index = 128; index < 1_000; index += 1) ledger.hear(`healthy-${index}`, '192.0.2.1', 100_002, WALL);
    expect(ledger.heardOf('dumping')?.count).toBe(1);
  });

  it('of a kernel that begins to dump has room where nothing but dumps that are over fill it', () => {
    const ledger = ledgerOf();
    for (let index = 0; index < 128; index += 1) ledger.hear(`off-${index}`, '192.0.2.1', 10_000 + index, WALL);
    expect(ledger.hear('dumping', '192.0.2.9', 69_999, WALL), 'all of them dump').toBe(false);
    expect(ledger.hear('dumping', '192.0.2.9', 70_001, WALL)).toBe(true);
    expect([ledger.heardOf('off-0'), ledger.heardOf('off-1')?.count]).toEqual([undefined, 1]);
  });

  it('is read of those that wrote last, where a replica that starts again and again has left more than are read', () => {
    const left = Array.from({ length: 20 }, (_, index) => [recordKey(`a-${index}`), writeRecords(new Map([['a', RECORD]])).text] as const);
    const living = { ...RECORD, last: '2026-01-01T01:00:00.000Z' };
    const read = readRecords({ ...Object.fromEntries(left), [recordKey('z')]: writeRecords(new Map([['a', living]])).text }, recordKey('me'));
    expect(read.size).toBe(8);
    expect(read.get('z')?.get('a')).toEqual(living);
  });

  it('is written as far as it is read, and who is left out is counted', () => {
    const many = new Map(Array.from({ length: 128 }, (_, index) => [`${'n'.repeat(240)}${index}`, RECORD]));
    const { text, left } = writeRecords(many);
    const read = readRecords({ [recordKey('other')]: text }, recordKey('me')).get('other');
    expect(left).toBeGreaterThan(0);
    expect(read?.size).toBe(128 - left);
  });

  it('is bounded: a flood for more nodes is dropped', () => {
    const ledger = ledgerOf();
    const kept = Array.from({ length: 1_000 }, (_, index) => ledger.hear(`node-${index}`, '192.0.2.1', 60_000, WALL)).filter(Boolean);
    expect(kept).toHaveLength(128);
  });

  it('is read back as it was written, and what is not whole is left out', () => {
    const annotations = {
      [recordKey('me')]: writeRecords(new Map([['a', RECORD]])).text,
      [recordKey('other')]: JSON.stringify({
        a: RECORD,
        b: { ...RECORD, count: 0 },
        c: { ...RECORD, source: 'evil words' },
        d: { ...RECORD, first: 'then' },
        e: 7,
      }),
      [recordKey('broken')]: '{',
      foreign: writeRecords(new Map([['a', RECORD]])).text,
    };
    const read = readRecords(annotations, recordKey('me'));
    expect([...(read.get('other') ?? [])]).toEqual([['a', RECORD]]);
    expect([...read.keys()]).toEqual(['other', 'broken']);
    expect(read.get('broken')?.size).toBe(0);
  });
});

describe('the Lease of the replicas', () => {
  const record: DumpRecord = { source: '192.0.2.1', first: '2026-01-01T00:00:00.000Z', last: '2026-01-01T00:01:00.000Z', count: 9, state: 'DUMPING' };
  const written = writeRecords(new Map([['a', record]])).text;

  /** What is written hours after it was read first. */
  async function afterHours(annotations: Record<string, string>, hours: number): Promise<Record<string, string | null>> {
    const clock = new ManualClock();
    const patches: { metadata: { annotations: Record<string, string | null> } }[] = [];
    const mergePatch = (_resource: unknown, _name: unknown, patch: (typeof patches)[number]): Promise<never> => {
      patches.push(patch);
      return Promise.resolve({} as never);
    };
    const cluster = { mergePatch, create: mergePatch } as unknown as Cluster;
    const records = new DumpRecords({ clock, cluster, namespace: 'fences', name: 'lease', replica: 'me' });
    const lease = { metadata: { name: 'lease', annotations }, spec: {} } as Lease;
    records.read(lease);
    await clock.advance(hours * 3_600_000);
    records.read(lease);
    records.offer(new Map([['a', record]]));
    await records.close();
    return patches[0]?.metadata.annotations ?? {};
  }

  it('loses what a replica wrote that is gone, and nothing that is not ours', async () => {
    const left = await afterHours({ [recordKey('gone')]: written, 'example.com/owner': 'somebody' }, 3);
    expect(left).toEqual({ [recordKey('gone')]: null, [recordKey('me')]: written });
  });

  it('loses the oldest sooner where there are more than are read', async () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [recordKey(`gone-${index}`), written]));
    const left = await afterHours(many, 0.1);
    expect(Object.values(left).filter((text) => text === null)).toHaveLength(5);
    expect(Object.values(await afterHours({ [recordKey('gone')]: written }, 0.1))).toEqual([written]);
  });
});

describe('a flood', { timeout: 120_000 }, () => {
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
      isOnlySeen: () => false,
      failureOf: () => undefined,
      isArmed: () => false,
      wake: () => void (done.woken += 1),
      tellProblems: quiet,
      options: { namespace: 'fences', replica: 'me', host: 'here' },
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
