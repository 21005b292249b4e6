import type { NodeFenceRemediationSpec } from '../../../src/ports/remediation.ts';
import { DUMPS_SHARE, withDumps } from '../dumps/draws.ts';
import { withNodeDaemons } from '../node-daemons/draws.ts';
import { withRemedies } from '../remedies/draws.ts';
import { scenarioOf } from '../draws.ts';
import { expectedOf } from '../expected.ts';
import { SeededRandom } from '../../../src/testbed/simulation/seeded-random.ts';
import type { Scenario } from '../scenario.ts';
import { drawHosts } from './host-draws.ts';
import { WAYS_SHARE, withWays } from '../ways/draws.ts';
import type { Check, Composed, Deed, Pool, Preserving, SecondaryControllers } from './secondary-controllers.ts';

/** `--controllers`: the one that fences alone, with those beside it, with the daemons of the nodes, alone in worlds with crash kernels, with remedies, or alone with other ways than a BMC. */
export type Cast = 'fence' | 'all' | 'daemons' | 'dumps' | 'remedies' | 'ways';

const FAULT_AT_MS = 18_000;
/** By then every pod has a node. */
const SCHEDULED_MS = 15_000;
/** Some worlds have none of them, as a cluster may that never installed their kinds. */
const PLAYED_SHARE = 0.9;
const COMPOSED_SHARE = 0.85;
const RESTORED_MS = 1_000;
const ILL_SHARE = 0.5;

type Subject = 'all' | 'others' | 'victim';
const SUBJECTS: Readonly<Record<Subject, number>> = { all: 4, others: 3, victim: 3 };
const COUNTS: Readonly<Record<'0' | '1' | '2' | '3', number>> = { 0: 2, 1: 4, 2: 3, 3: 1 };

const PRESERVING: Readonly<Record<Exclude<Preserving, ''> | 'emptied', number>> = { now: 4, 'when-failed': 5, false: 2, emptied: 1 };
const MACHINE_DELETED_SHARE = 0.1;

type Spec = Required<Pick<NodeFenceRemediationSpec, 'strategy' | 'retryLimit' | 'timeoutSeconds' | 'nodeRemoval' | 'onExhaustion'>>;
const STRATEGIES: Readonly<Record<Spec['strategy'], number>> = { fence: 2, 'fence-and-recover': 4, escalate: 2 };
const REMOVALS: Readonly<Record<Spec['nodeRemoval'], number>> = { OutOfServiceTaint: 5, DeleteNode: 2, None: 2 };
const EXHAUSTIONS: Readonly<Record<Spec['onExhaustion'], number>> = { Reuse: 4, Retire: 1, LeaveOff: 1 };

/** What a seed plays, with the cast that is asked for. */
export function scenarioWith(seed: number, cast: Cast): Scenario {
  if (cast === 'daemons') return withNodeDaemons(seed);
  if (cast === 'remedies') return withRemedies(seed);
  const drawn = scenarioOf(seed);
  if (cast === 'dumps') return withDumps(drawn, 1);
  if (cast === 'ways') return withWays(drawn, 1);
  return withWays(withDumps(cast === 'fence' ? drawn : withSecondaries(drawn), DUMPS_SHARE), WAYS_SHARE);
}

/** Draws from streams of their own: what a seed plays without them stays what it was. */
function withSecondaries(scenario: Scenario): Scenario {
  const random = new SeededRandom(scenario.seed, 'sisters');
  if (!random.chance(PLAYED_SHARE)) return scenario;
  const isComposed = (name: string): boolean => new SeededRandom(scenario.seed, `sisters ${name}`).chance(COMPOSED_SHARE);
  const composed: Composed = {
    remediation: isComposed('remediation'),
    healthChecks: isComposed('health checks'),
    preservation: isComposed('preservation'),
  };
  // What is asked before a restore of etcd is gone with it.
  const restored = scenario.disturbances.flatMap((one) => (one.what === 'restore' ? [one.atMs + one.durationMs + RESTORED_MS] : []));
  const fromMs = Math.max(0, ...restored);
  const subjects = subjectsOf(random.weighted(SUBJECTS), scenario);
  const hosts = drawHosts(scenario, subjects, fromMs);
  const nodes = subjects.filter((node) => hosts?.isServed !== true || !hosts.nodes.includes(node));
  const secondaries: SecondaryControllers = {
    composed: { ...composed, ...(hosts !== undefined && { hosts: true }) },
    nodes,
    ...(hosts !== undefined && { hosts }),
    ...(composed.healthChecks && { check: drawCheck(new SeededRandom(scenario.seed, 'sisters check')) }),
    ...(composed.preservation && { pool: drawPool(new SeededRandom(scenario.seed, 'sisters pool')) }),
    deeds: [
      ...(composed.remediation ? drawRequests(new SeededRandom(scenario.seed, 'sisters requests'), nodes) : []),
      ...(composed.healthChecks ? drawIllness(new SeededRandom(scenario.seed, 'sisters illness'), nodes) : []),
      ...(composed.preservation ? drawPreserving(new SeededRandom(scenario.seed, 'sisters preserving'), nodes) : []),
    ].map((deed) => ({ ...deed, atMs: Math.max(deed.atMs, fromMs) })),
  };
  const whole = { ...scenario, secondaries };
  return { ...whole, expected: expectedOf(whole) };
}

function subjectsOf(subject: Subject, { nodes, victim }: Scenario): readonly string[] {
  switch (subject) {
    case 'all':
      return nodes;
    case 'others':
      return nodes.filter((node) => node !== victim);
    case 'victim':
      return [victim];
  }
}

function drawCheck(random: SeededRandom): Check {
  const strategy = random.pick(['fence-and-recover', 'escalate'] as const);
  return {
    timeoutMs: random.pick([1_000, 10_000, 40_000]),
    atMost: random.pick(['100%', '50%', '1']),
    spec: { ...drawSpec(random), strategy, nodeRemoval: 'OutOfServiceTaint' },
  };
}

function drawRequests(random: SeededRandom, nodes: readonly string[]): Deed[] {
  return Array.from({ length: Number(random.weighted(COUNTS)) }, (): Deed => {
    const durationMs = random.between(20_000, 300_000);
    return {
      what: 'request',
      node: random.pick(nodes),
      atMs: Math.max(SCHEDULED_MS, FAULT_AT_MS + random.between(-3_000, 100_000)),
      durationMs,
      spec: drawSpec(random),
      hasLease: random.chance(0.3),
      ...(random.chance(0.25) && { timesOutMs: random.between(1_000, durationMs) }),
    };
  });
}

function drawIllness(random: SeededRandom, nodes: readonly string[]): Deed[] {
  if (!random.chance(ILL_SHARE)) return [];
  return [{ what: 'illness', node: random.pick(nodes), atMs: FAULT_AT_MS + random.between(0, 90_000), durationMs: random.between(10_000, 240_000) }];
}

function drawPool(random: SeededRandom): Pool {
  return { most: random.below(3), preserveMs: random.between(60_000, 240_000), healthMs: random.between(20_000, 120_000) };
}

function drawPreserving(random: SeededRandom, nodes: readonly string[]): Deed[] {
  const deeds = Array.from({ length: Number(random.weighted(COUNTS)) }, (): Deed => {
    const value = random.weighted(PRESERVING);
    const base = { node: random.pick(nodes), atMs: FAULT_AT_MS + random.between(-3_000, 120_000), durationMs: random.between(10_000, 240_000) };
    return { ...base, what: 'preserve', on: random.chance(0.7) ? 'node' : 'machine', value: value === 'emptied' ? '' : value };
  });
  const isDeleted = random.chance(MACHINE_DELETED_SHARE);
  const deletion: Deed = { what: 'delete-machine', node: random.pick(nodes), atMs: FAULT_AT_MS + random.between(0, 150_000), durationMs: 0 };
  return isDeleted ? [...deeds, deletion] : deeds;
}

function drawSpec(random: SeededRandom): NodeFenceRemediationSpec {
  const strategy = random.weighted(STRATEGIES);
  const removal = random.weighted(REMOVALS);
  return {
    strategy,
    retryLimit: random.below(2),
    timeoutSeconds: random.pick([30, 60, 90]),
    powerOffTimeoutSeconds: random.pick([60, 120]),
    powerOnTimeoutSeconds: random.pick([60, 120]),
    // Only who fences for good may have the Node go for good.
    nodeRemoval: removal === 'DeleteNode' && strategy !== 'fence' ? 'OutOfServiceTaint' : removal,
    onExhaustion: random.weighted(EXHAUSTIONS),
    cooldownSeconds: random.pick([0, 0, 30]),
  };
}
