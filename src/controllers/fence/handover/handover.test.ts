import { beforeEach, describe, expect, it } from 'vitest';
import { fenceName } from '../../../domain/node-fence.ts';
import { ObjectCache } from '../../../kube/lister.ts';
import { NO_METRICS } from '../../../ports/metrics.ts';
import type { Lease, Node } from '../../../ports/objects.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { Candidates } from './candidates.ts';
import { OwnNode } from './handover.ts';

const quiet = (): void => undefined;
const SILENT = { debug: quiet, info: quiet, warn: quiet, error: quiet };

class Bench {
  readonly clock = new ManualClock();
  readonly nodes = new ObjectCache<Node>({}, SILENT);
  readonly fences = new ObjectCache<NodeFence>({}, SILENT);
  readonly announced = new ObjectCache<Lease>({}, SILENT);
  readonly told: string[] = [];
  readonly stoodDown: string[] = [];
  readonly problems: string[] = [];
  readonly own: OwnNode;

  constructor() {
    this.nodes.freshAtMs = Number.POSITIVE_INFINITY;
    this.own = new OwnNode({
      clock: this.clock,
      recorder: { event: (about, _type, reason) => void this.told.push(`${about.kind ?? ''} ${reason}`) },
      log: SILENT,
      metrics: { ...NO_METRICS.fence, problem: (reason) => void this.problems.push(reason) },
      queue: { add: quiet },
      listers: { nodes: this.nodes, fences: this.fences },
      announced: this.announced,
      candidates: new Candidates('own'),
      isLeading: () => true,
      options: { mode: 'enforce', ownNode: 'a', outOfService: true, staleAfterMs: 60_000 },
      standDown: (reason) => void this.stoodDown.push(reason),
    });
    for (const name of ['a', 'b']) this.ready(name, 'True');
  }

  ready(name: string, status: 'True' | 'Unknown'): void {
    this.nodes.put({ metadata: { name }, spec: {}, status: { conditions: [{ type: 'Ready', status }] } });
  }

  fenced(name: string, incident = 1): void {
    const status = { state: 'new', incident } as NonNullable<NodeFence['status']>;
    this.fences.put({ metadata: { name: fenceName(name), uid: 'f' }, spec: { node: name }, status });
  }

  announce(node: string, count: number): void {
    const annotations = { [`candidate.nodefence.ha.k8s.io/on-${node}`]: JSON.stringify({ node, mode: 'enforce', count }) };
    this.announced.put({ metadata: { name: 'nodefence-candidates', annotations }, spec: {} });
  }

  fail(): void {
    this.ready('a', 'Unknown');
    this.fenced('a');
  }
}

describe('a leader', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });

  it('whose own node becomes the target stands down once, after a term that is long enough, and says so on fence and node', async () => {
    bench.announce('b', 1);
    bench.own.leads();
    bench.fail();
    await bench.clock.advance(14_999);
    expect(bench.stoodDown).toEqual([]);
    await bench.clock.advance(1);
    expect(bench.stoodDown).toEqual(['own node a is to be fenced: handed over to a replica on node b']);
    bench.announce('b', 2);
    bench.fenced('a', 2);
    await bench.clock.advance(60_000);
    expect([bench.stoodDown.length, bench.told]).toEqual([1, ['NodeFence LeadershipHandedOver', 'Node LeadershipHandedOver']]);
  });

  it('whose node is well again before the end of that term stays', async () => {
    bench.announce('b', 1);
    bench.own.leads();
    bench.fail();
    await bench.clock.advance(10_000);
    bench.ready('a', 'True');
    await bench.clock.advance(60_000);
    expect(bench.stoodDown).toEqual([]);
  });

  it('without a candidate alarms once for each incident, and hands over as soon as one is there', async () => {
    bench.own.leads();
    await bench.clock.advance(20_000);
    bench.fail();
    bench.ready('a', 'Unknown');
    expect(bench.problems).toEqual(['OwnNodeWithoutCandidate']);
    expect(bench.own.words()).toContain('start one elsewhere');
    bench.fenced('a', 2);
    expect(bench.problems).toHaveLength(2);
    bench.announce('b', 1);
    expect(bench.stoodDown).toHaveLength(1);
  });

  it('does not hand over to a node that is failing itself, and does once that node is well', async () => {
    bench.announce('b', 1);
    bench.ready('b', 'Unknown');
    bench.own.leads();
    await bench.clock.advance(20_000);
    bench.fail();
    expect([bench.stoodDown.length, bench.problems.length]).toEqual([0, 1]);
    bench.ready('b', 'True');
    bench.announce('b', 2);
    expect(bench.stoodDown).toHaveLength(1);
  });

  it('that has ended, or does not lead yet, hands nothing over', async () => {
    bench.announce('b', 1);
    bench.fail();
    await bench.clock.advance(60_000);
    bench.own.leads();
    bench.own.close();
    await bench.clock.advance(60_000);
    expect(bench.stoodDown).toEqual([]);
  });
});

describe('a replica on a failed node', () => {
  it('lets a candidate go first for a minute, then leads and hands it nothing for ten, then tries again', async () => {
    const bench = new Bench();
    bench.announce('b', 1);
    bench.fail();
    expect([bench.own.mayStand(0), bench.own.mayStand(59_999), bench.own.mayStand(60_000)]).toEqual([false, false, true]);
    bench.own.leads();
    await bench.clock.advance(20_000);
    bench.announce('b', 2);
    expect([bench.stoodDown.length, bench.problems.length]).toEqual([0, 1]);
    await bench.clock.advance(600_000);
    bench.announce('b', 3);
    expect(bench.stoodDown).toHaveLength(1);
  });

  it('holds nothing against a candidate that could not lead when it took the lease itself', async () => {
    const bench = new Bench();
    bench.announce('b', 1);
    bench.ready('b', 'Unknown');
    bench.fail();
    expect(bench.own.mayStand(0)).toBe(true);
    bench.own.leads();
    await bench.clock.advance(20_000);
    bench.ready('b', 'True');
    bench.announce('b', 2);
    expect(bench.stoodDown).toHaveLength(1);
  });

  it('that hears nothing of nodes any more counts as blind, and lets others go first', () => {
    const bench = new Bench();
    bench.announce('b', 1);
    expect(bench.own.mayStand(0)).toBe(true);
    bench.nodes.freshAtMs = -60_001;
    expect(bench.own.mayStand(0)).toBe(false);
  });
});
