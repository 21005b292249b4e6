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

class Harness {
  readonly clock = new ManualClock();
  readonly nodes = new ObjectCache<Node>({}, SILENT);
  readonly fences = new ObjectCache<NodeFence>({}, SILENT);
  readonly announced = new ObjectCache<Lease>({}, SILENT);
  readonly told: string[] = [];
  readonly stoodDown: string[] = [];
  readonly problems: string[] = [];
  readonly warnings: string[] = [];
  readonly own: OwnNode;

  constructor() {
    this.nodes.freshAtMs = Number.POSITIVE_INFINITY;
    this.own = new OwnNode({
      clock: this.clock,
      recorder: { event: (about, _type, reason) => void this.told.push(`${about.kind ?? ''} ${reason}`) },
      log: { ...SILENT, warn: (_message, fields) => void this.warnings.push(String(fields?.['detail'])) },
      metrics: { ...NO_METRICS.fence, problem: (reason) => void this.problems.push(reason) },
      queue: { add: quiet, addFirst: quiet },
      listers: { nodes: this.nodes, fences: this.fences },
      announced: this.announced,
      candidates: new Candidates('own'),
      isLeading: () => true,
      options: { mode: 'enforce', ownNode: 'a', outOfService: true, staleAfterMs: 60_000 },
      stepDown: (reason) => void this.stoodDown.push(reason),
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
  let harness: Harness;
  beforeEach(() => {
    harness = new Harness();
  });

  it('whose own node is no Node says so once it leads: nothing keeps it from fencing its own machine', () => {
    harness.own.leads();
    expect(harness.problems).toEqual([]);
    harness.nodes.remove('a');
    harness.own.leads();
    expect([harness.problems, harness.warnings]).toEqual([['OwnNodeUnknown'], [expect.stringContaining('there is no Node a: if') as string]]);
  });

  it('whose own node becomes the target stands down once, after a term that is long enough, and says so on fence and node', async () => {
    harness.announce('b', 1);
    harness.own.leads();
    harness.fail();
    await harness.clock.advance(14_999);
    expect(harness.stoodDown).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.stoodDown).toEqual(['own node a is to be fenced: handed over to a replica on node b']);
    harness.announce('b', 2);
    harness.fenced('a', 2);
    await harness.clock.advance(60_000);
    expect([harness.stoodDown.length, harness.told]).toEqual([1, ['NodeFence LeadershipHandedOver', 'Node LeadershipHandedOver']]);
  });

  it('whose node is well again before the end of that term stays', async () => {
    harness.announce('b', 1);
    harness.own.leads();
    harness.fail();
    await harness.clock.advance(10_000);
    harness.ready('a', 'True');
    await harness.clock.advance(60_000);
    expect(harness.stoodDown).toEqual([]);
  });

  it('without a candidate alarms once for each incident, and hands over as soon as one is there', async () => {
    harness.own.leads();
    await harness.clock.advance(20_000);
    harness.fail();
    harness.ready('a', 'Unknown');
    expect(harness.problems).toEqual(['OwnNodeWithoutCandidate']);
    expect(harness.own.holdMessage()).toContain('start one elsewhere');
    harness.fenced('a', 2);
    expect(harness.problems).toHaveLength(2);
    harness.announce('b', 1);
    expect(harness.stoodDown).toHaveLength(1);
  });

  it('does not hand over to a node that is failing itself, and does once that node is well', async () => {
    harness.announce('b', 1);
    harness.ready('b', 'Unknown');
    harness.own.leads();
    await harness.clock.advance(20_000);
    harness.fail();
    expect([harness.stoodDown.length, harness.problems.length]).toEqual([0, 1]);
    harness.ready('b', 'True');
    harness.announce('b', 2);
    expect(harness.stoodDown).toHaveLength(1);
  });

  it('that has ended, or does not lead yet, hands nothing over', async () => {
    harness.announce('b', 1);
    harness.fail();
    await harness.clock.advance(60_000);
    harness.own.leads();
    harness.own.close();
    await harness.clock.advance(60_000);
    expect(harness.stoodDown).toEqual([]);
  });
});

describe('a replica on a failed node', () => {
  it('lets a candidate go first for a minute, then leads and hands it nothing for ten, then tries again', async () => {
    const harness = new Harness();
    harness.announce('b', 1);
    harness.fail();
    expect([harness.own.mayLead(0), harness.own.mayLead(59_999), harness.own.mayLead(60_000)]).toEqual([false, false, true]);
    harness.own.leads();
    await harness.clock.advance(20_000);
    harness.announce('b', 2);
    expect([harness.stoodDown.length, harness.problems.length]).toEqual([0, 1]);
    await harness.clock.advance(600_000);
    harness.announce('b', 3);
    expect(harness.stoodDown).toHaveLength(1);
  });

  it('holds nothing against a candidate that could not lead when it took the lease itself', async () => {
    const harness = new Harness();
    harness.announce('b', 1);
    harness.ready('b', 'Unknown');
    harness.fail();
    expect(harness.own.mayLead(0)).toBe(true);
    harness.own.leads();
    await harness.clock.advance(20_000);
    harness.ready('b', 'True');
    harness.announce('b', 2);
    expect(harness.stoodDown).toHaveLength(1);
  });

  it('that hears nothing of nodes any more counts as blind, and lets others go first', () => {
    const harness = new Harness();
    harness.announce('b', 1);
    expect(harness.own.mayLead(0)).toBe(true);
    harness.nodes.freshAtMs = -60_001;
    expect(harness.own.mayLead(0)).toBe(false);
  });
});
