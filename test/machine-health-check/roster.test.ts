import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../src/controllers/machine-health-check/actions.ts';
import { decide } from '../../src/controllers/machine-health-check/decide.ts';
import { readCluster, readNode } from '../../src/controllers/machine-health-check/read/cluster.ts';
import { readHealthCheck } from '../../src/controllers/machine-health-check/read/health-check.ts';
import { readMachine } from '../../src/controllers/machine-health-check/read/machine.ts';
import { readRequest, readTemplate } from '../../src/controllers/machine-health-check/read/request.ts';
import { Roster } from '../../src/controllers/machine-health-check/roster.ts';
import type {
  ClusterFacts,
  MachineFacts,
  NodeFacts,
  ReadCheck,
  RequestFacts,
  Snapshot,
  TemplateFacts,
} from '../../src/controllers/machine-health-check/snapshot.ts';
import {
  ago,
  checkObject,
  clusterObject,
  machineObject,
  NAMESPACE,
  nodeConditionsOf,
  NOW_MS,
  requestObject,
  TEMPLATE_REF,
  templateObject,
} from './objects.ts';

const BOTH = { hasBothLists: true };
const CHECKS = { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }] };

/** All facts, as a watch would know them; each change is told to the roster as well. */
class Facts {
  nowMs = NOW_MS;
  readonly roster = new Roster({ hasClusters: true, maxInFlight: 2 });
  readonly checks = new Map<string, ReadCheck>();
  readonly machines = new Map<string, MachineFacts>();
  readonly nodes = new Map<string, NodeFacts>();
  readonly clusters = new Map<string, ClusterFacts>();
  readonly requests = new Map<string, RequestFacts>();
  readonly templates = new Map<string, TemplateFacts>();
  readonly claims = new Map<string, string>();
  readonly refusals = new Map<string, string>();
  unheardNodes: ReadonlySet<string> = new Set();
  unheardKinds: ReadonlySet<string> = new Set();

  snapshot(): Snapshot {
    const { nowMs, claims, refusals, unheardNodes, unheardKinds } = this;
    const all = <T>(facts: ReadonlyMap<string, T>): T[] => [...facts.values()];
    return {
      nowMs,
      hasClusters: true,
      maxInFlight: 2,
      checks: all(this.checks),
      machines: all(this.machines),
      nodes: all(this.nodes),
      clusters: all(this.clusters),
      requests: all(this.requests),
      templates: all(this.templates),
      claims,
      refusals,
      unheardNodes,
      unheardKinds,
    };
  }
}

type Change = (facts: Facts) => ReadonlySet<string>;

const index = fc.integer({ min: 0, max: 5 });
const which = fc.constantFrom('one', 'two', 'three');

const rarely = fc.integer({ min: 0, max: 4 }).map((dice) => dice === 0);

const putMachine = fc
  .record({
    index,
    node: fc.option(index),
    pool: fc.constantFrom('a', 'b'),
    cluster: fc.constantFrom('c1', 'c1', 'c1', 'c2'),
    uid: fc.constantFrom('first', 'second'),
    isDeleting: rarely,
    annotations: fc.constantFrom({}, {}, { 'cluster.x-k8s.io/remediate-machine': '' }, { 'cluster.x-k8s.io/paused': '' }),
    ageSeconds: fc.constantFrom(60, 500, 7_200),
  })
  .map(({ index: at, node, pool, cluster, uid, ...parts }): Change => (facts) => {
    const name = `m${at}`;
    const nodeName = node === null ? null : `n${node}`;
    const machine = readMachine(machineObject(name, { ...parts, nodeName, labels: { pool }, clusterName: cluster, uid: `${uid}-${at}` }), BOTH);
    facts.machines.set(name, machine);
    return facts.roster.putMachine(machine);
  });

const removeMachine = index.map((at): Change => (facts) => {
  facts.machines.delete(`m${at}`);
  return facts.roster.removeMachine(`${NAMESPACE}/m${at}`);
});

const putNode = fc
  .record({
    at: index,
    status: fc.constantFrom('True' as const, 'Unknown' as const),
    ageSeconds: fc.constantFrom(10, 299, 300, 900),
    cluster: fc.constantFrom('', 'remote'),
  })
  .map(({ at, status, ageSeconds, cluster }): Change => (facts) => {
    const conditions = nodeConditionsOf(status, ageSeconds);
    const node = readNode({ metadata: { name: `n${at}` }, spec: {}, status: { conditions } } as Parameters<typeof readNode>[0], cluster);
    facts.nodes.set(`${cluster} n${at}`, node);
    return facts.roster.putNode(node);
  });

const removeNode = fc.record({ at: index, cluster: fc.constantFrom('', 'remote') }).map(({ at, cluster }): Change => (facts) => {
  facts.nodes.delete(`${cluster} n${at}`);
  return facts.roster.removeNode(cluster, `n${at}`);
});

const putCluster = fc
  .record({ name: fc.constantFrom('c1', 'c2'), isPaused: rarely, isReady: fc.boolean(), nodesOf: fc.constantFrom('', 'remote') })
  .map(({ name, isPaused, isReady, nodesOf }): Change => (facts) => {
    const cluster = readCluster(clusterObject({ name, isPaused, infrastructureReady: { is: isReady, ageSeconds: 400 } }), nodesOf);
    facts.clusters.set(name, cluster);
    return facts.roster.putCluster(cluster);
  });

const removeCluster = fc.constantFrom('c1', 'c2', 'c2', 'c2').map((name): Change => (facts) => {
  facts.clusters.delete(name);
  return facts.roster.removeCluster(`${NAMESPACE}/${name}`);
});

const putCheck = fc
  .record({
    name: which,
    pool: fc.constantFrom({ pool: 'a' }, { pool: 'b' }, { role: 'worker' }),
    clusterName: fc.constantFrom('c1', 'c1', 'c2'),
    isExternal: fc.boolean(),
    ageSeconds: fc.constantFrom(100, 200, 300),
    maximum: fc.constantFrom(0, 2, '50%', 'nonsense'),
  })
  .map(({ name, pool, clusterName, isExternal, ageSeconds, maximum }): Change => (facts) => {
    const remediation = { triggerIf: { unhealthyLessThanOrEqualTo: maximum }, ...(isExternal && { templateRef: TEMPLATE_REF }) };
    const spec = { selector: { matchLabels: pool }, clusterName, checks: CHECKS, remediation };
    const read = readHealthCheck(checkObject(name, spec, 'v1beta2', { creationTimestamp: ago(ageSeconds) }), BOTH);
    facts.checks.set(name, read);
    return facts.roster.putCheck(read);
  });

const removeCheck = which.map((name): Change => (facts) => {
  facts.checks.delete(name);
  return facts.roster.removeCheck(`${NAMESPACE}/${name}`);
});

const setRequest = fc.record({ at: index, is: fc.constantFrom('there', 'ending', 'gone') }).map(({ at, is }): Change => (facts) => {
  const name = `m${at}`;
  const request = readRequest(requestObject(name, { isDeleting: is === 'ending', ownerUID: `first-${at}` }));
  if (is === 'gone') facts.requests.delete(name);
  else facts.requests.set(name, request);
  return is === 'gone' ? facts.roster.removeRequest(request) : facts.roster.putRequest(request);
});

const setTemplate = fc.boolean().map((isThere): Change => (facts) => {
  const template = readTemplate(templateObject());
  if (isThere) facts.templates.set('cycle', template);
  else facts.templates.delete('cycle');
  return isThere ? facts.roster.putTemplate(template) : facts.roster.removeTemplate(template);
});

const setWord = fc
  .record({ at: index, kind: fc.constantFrom('claims' as const, 'refusals' as const), isThere: fc.boolean() })
  .map(({ at, kind, isThere }): Change => (facts) => {
    const uid = `first-${at}`;
    if (isThere) facts[kind].set(uid, 'words');
    else facts[kind].delete(uid);
    const words = isThere ? 'words' : undefined;
    return kind === 'claims' ? facts.roster.setClaim(uid, words) : facts.roster.setRefusal(uid, words);
  });

const setUnheard = fc.tuple(fc.constantFrom([], [], ['remote'], ['']), fc.boolean()).map(([nodes, isKind]): Change => (facts) => {
  facts.unheardNodes = new Set(nodes);
  facts.unheardKinds = new Set(isKind ? [`${TEMPLATE_REF.apiVersion} PowerCycle`] : []);
  return facts.roster.setUnheard(facts.unheardNodes, facts.unheardKinds);
});

const passTime = fc.constantFrom(1, 10, 301, 600, -100).map((seconds): Change => (facts) => {
  facts.nowMs += seconds * 1_000;
  return new Set(facts.checks.size === 0 ? [] : [...facts.roster.checks()]);
});

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: putMachine },
  { weight: 4, arbitrary: putNode },
  { weight: 3, arbitrary: putCheck },
  { weight: 2, arbitrary: putCluster },
  ...[removeMachine, removeNode, removeCluster, removeCheck, setRequest, setTemplate, setWord, setUnheard, passTime].map((arbitrary) => ({
    weight: 1,
    arbitrary,
  })),
);

function nodeAt(at: number, ageSeconds: number): Change {
  return (facts) => {
    const node: NodeFacts = {
      cluster: '',
      name: `n${at}`,
      conditions: [{ type: 'Ready', status: 'Unknown', reason: '', sinceMs: NOW_MS - ageSeconds * 1_000 }],
    };
    facts.nodes.set(` n${at}`, node);
    return facts.roster.putNode(node);
  };
}

function machineAt(at: number): Change {
  return (facts) => {
    const machine = readMachine(machineObject(`m${at}`, { nodeName: `n${at}`, labels: { pool: 'a' }, uid: `first-${at}` }), BOTH);
    facts.machines.set(`m${at}`, machine);
    return facts.roster.putMachine(machine);
  };
}

/** A cluster that works, so that what changes matters. */
const START: readonly Change[] = [
  (facts) => {
    const cluster = readCluster(clusterObject(), '');
    facts.clusters.set('c1', cluster);
    return facts.roster.putCluster(cluster);
  },
  (facts) => {
    const read = readHealthCheck(checkObject('one', { checks: CHECKS, remediation: { templateRef: TEMPLATE_REF } }), BOTH);
    facts.checks.set('one', read);
    return facts.roster.putCheck(read);
  },
  ...[0, 1, 2, 3].flatMap((at) => [nodeAt(at, at * 150), machineAt(at)]),
];

/** Without what depends on the order of lists that have none, and on when a write was first thought of. */
function plain({ actions, views, notices, problems, nextDueMs }: Decision): unknown {
  const sorted = (items: readonly unknown[]): string[] =>
    items.map((item) => JSON.stringify(item).replaceAll(/"lastTransitionTime":"[^"]*"/g, '')).sort();
  return { actions: sorted(actions), views: sorted(views), notices: sorted(notices), problems: sorted(problems), nextDueMs };
}

describe('a roster that is told change by change', () => {
  it('comes to the same as a decision over the whole picture, and names every check for which something has changed', () => {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 30 }), (changes) => {
        const facts = new Facts();
        const known = new Map<string, Decision>();
        for (const each of [...START, ...changes]) {
          const touched = each(facts);
          for (const key of touched) known.set(key, facts.roster.decide(key, facts.nowMs));
          for (const key of known.keys()) if (![...facts.roster.checks()].includes(key)) known.delete(key);
          const whole = decide(facts.snapshot());
          const parts = [...known.values()];
          const due = parts.flatMap(({ nextDueMs }) => nextDueMs ?? []);
          const joined: Decision = {
            actions: parts.flatMap(({ actions }) => actions),
            views: parts.flatMap(({ views }) => views),
            notices: parts.flatMap(({ notices }) => notices),
            problems: parts.flatMap(({ problems }) => problems),
            ...(due.length > 0 && { nextDueMs: Math.min(...due) }),
          };
          expect(plain(joined)).toEqual(plain(whole));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('knows nothing of a check that is not there', () => {
    expect(new Roster({ hasClusters: false }).decide('default/none', NOW_MS)).toEqual({ actions: [], views: [], notices: [], problems: [] });
  });
});
