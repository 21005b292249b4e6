import { queryObjects } from 'node:v8';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from '../../../domain/plan.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { ObjectCache } from '../../../kube/lister.ts';
import type { KubeObject, Lease, Node } from '../../../ports/objects.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { FenceHarness, nodeOf } from '../testing/harness.ts';
import { NodeRoster } from './node-roster.ts';

const NAMES = ['a', 'b', 'c', 'd'];
/** What the roster may overlook for so long: a Lease that a kubelet writes for the first time. */
const FIRST_LEASE_MS = 5_000;
/** A round of all that are silent. */
const SWEPT_MS = 100;

const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(4_000) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('heard' as const), name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ready' as const), name, status: fc.constantFrom('True' as const, 'Unknown' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gone' as const), name }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('lease' as const, 'no lease' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('life wait' as const), ms: fc.constantFrom(1_000, 3_000, 10_000) }) },
);

/** A roster over caches, and what its nodes are by what was heard of them, found by a look at each. */
class Rosters {
  readonly clock = new ManualClock();
  readonly nodes: ObjectCache<Node>;
  readonly leases: ObjectCache<Lease>;
  readonly heardAtMs = new Map<string, number>();
  readonly roster: NodeRoster;
  lifeWaitMs = 3_000;
  looks = 0;

  constructor(names: readonly string[]) {
    const { log, listers, planner } = new FenceHarness(this.clock).dependencies;
    const cache = <T extends KubeObject>(): ObjectCache<T> => new ObjectCache<T>({}, log);
    this.nodes = cache<Node>();
    this.leases = cache<Lease>();
    const planFor = () => planOf({ timing: { ...DEFAULT_TIMING, lifeWaitMs: this.lifeWaitMs } });
    const lifeAtMs = (node: string): number | undefined => {
      this.looks += 1;
      return this.heardAtMs.get(node);
    };
    const sources = { clock: this.clock, listers: { ...listers, nodes: this.nodes, leases: this.leases }, planner: { ...planner, planFor } };
    this.roster = new NodeRoster({ ...sources, lifeAtMs, isPreserved: () => false, foreignMarks: () => [] }, () => undefined);
    for (const each of names) {
      this.lease(each);
      this.heard(each);
      this.ready(each, 'True');
    }
  }

  heard(node: string): void {
    this.heardAtMs.set(node, this.clock.monotonicMs());
  }

  lease(node: string): void {
    this.leases.put({ metadata: { name: node, namespace: 'kube-node-lease' }, spec: {} });
  }

  ready(node: string, ready: 'True' | 'Unknown'): void {
    const known = nodeOf({ ready });
    this.nodes.put({ ...known, metadata: { ...known.metadata, name: node } });
    this.roster.seeNode(node, this.nodes.get(node));
  }

  cordon(node: string): void {
    const known = nodeOf({ ready: 'True' });
    this.nodes.put({ ...known, metadata: { ...known.metadata, name: node }, spec: { ...known.spec, unschedulable: true } });
    this.roster.seeNode(node, this.nodes.get(node));
  }

  play(each: typeof step extends fc.Arbitrary<infer Step> ? Step : never): void {
    switch (each.kind) {
      case 'pass':
        this.clock.freeze(each.ms);
        break;
      case 'heard':
        this.heard(each.name);
        break;
      case 'ready':
        this.ready(each.name, each.status);
        break;
      case 'gone':
        this.nodes.remove(each.name);
        this.roster.seeNode(each.name, undefined);
        break;
      case 'lease':
        this.lease(each.name);
        break;
      case 'no lease':
        this.leases.remove(`kube-node-lease/${each.name}`);
        break;
      case 'life wait':
        this.lifeWaitMs = each.ms;
        this.roster.forgetPlans();
        break;
    }
  }

  pass(ms: number): void {
    this.clock.freeze(ms);
    this.roster.refresh(this.clock.monotonicMs(), 'nobody');
  }

  found(): Record<string, string> {
    return Object.fromEntries([...this.roster.nodes.values()].map((node) => [node.name, node.health]));
  }

  searched(): Record<string, string> {
    const health = (node: Node): string => {
      if (node.status.conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True') === true) return 'failed';
      const heardAtMs = this.heardAtMs.get(node.metadata.name) ?? 0;
      const isLeased = this.leases.get(`kube-node-lease/${node.metadata.name}`) !== undefined;
      return isLeased && this.clock.monotonicMs() - heardAtMs >= this.lifeWaitMs ? 'silent' : 'healthy';
    };
    return Object.fromEntries([...this.nodes.all()].map((node) => [node.metadata.name, health(node)]));
  }
}

describe('the roster of nodes', () => {
  it('knows who is silent, whatever was heard and in whatever order', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.array(name, { maxLength: 4 }), (steps, heardLast) => {
        const rosters = new Rosters(NAMES);
        for (const each of steps) {
          rosters.play(each);
          rosters.pass(0);
        }
        rosters.pass(FIRST_LEASE_MS);
        for (const each of heardLast) rosters.heard(each);
        rosters.pass(SWEPT_MS);
        expect(rosters.found()).toEqual(rosters.searched());
      }),
      { numRuns: 500 },
    );
  });

  it('finds who fell silent in the very moment', () => {
    const rosters = new Rosters(NAMES);
    rosters.clock.freeze(1_000);
    rosters.heard('b');
    const healthAfter = (ms: number): (string | undefined)[] => {
      rosters.pass(ms);
      return NAMES.map((each) => rosters.roster.nodes.get(each)?.health);
    };
    expect(healthAfter(1_999)).toEqual(['healthy', 'healthy', 'healthy', 'healthy']);
    expect(healthAfter(1)).toEqual(['silent', 'healthy', 'silent', 'silent']);
    expect(healthAfter(999)).toEqual(['silent', 'healthy', 'silent', 'silent']);
    expect(healthAfter(1)).toEqual(['silent', 'silent', 'silent', 'silent']);
  });

  it('does not look at all nodes because one of them fell silent', () => {
    const names = Array.from({ length: 1_000 }, (_unused, index) => `node-${index}`);
    const rosters = new Rosters(names);
    for (const each of names) {
      rosters.clock.freeze(1);
      rosters.heard(each);
    }
    rosters.pass(2_000);
    rosters.looks = 0;
    for (let index = 0; index < 50; index += 1) rosters.pass(1);
    expect([...rosters.roster.nodes.values()].filter(({ health }) => health === 'silent')).toHaveLength(50);
    expect(rosters.looks).toBeLessThan(names.length);
  });

  it('looks at a node once in a while, however often it failed and came back before', () => {
    const rosters = new Rosters(['a']);
    for (let index = 0; index < 100; index += 1) {
      rosters.ready('a', 'Unknown');
      rosters.ready('a', 'True');
    }
    rosters.looks = 0;
    for (let index = 0; index < 10; index += 1) {
      rosters.heard('a');
      rosters.pass(rosters.lifeWaitMs - 1);
    }
    expect(rosters.looks).toBeLessThan(20);
  });
});

describe('a node that was cordoned', () => {
  it('is held by nothing more than before, where no pod of it is terminating', () => {
    const names = Array.from({ length: 500 }, (_unused, index) => `node-${index}`);
    const rosters = new Rosters(names);
    const mapsBefore = queryObjects(Map, { format: 'count' });
    for (const name of names) rosters.cordon(name);
    for (const name of names) rosters.ready(name, 'True');
    expect(queryObjects(Map, { format: 'count' }) - mapsBefore).toBeLessThan(names.length / 10);
  });
});
