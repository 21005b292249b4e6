import { foreseen } from './node-daemons/draws.ts';
import { expectedOf } from './expected.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import { failing } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { RemedyWorld } from './remedies/remedy-world.ts';
import type { Ways } from './ways/ways.ts';
import type { SecondaryControllers } from './secondary-controllers/secondary-controllers.ts';

/** What can be left out of a scenario, each by itself, by a name that stays the same whatever else is left out: `crash.1`, `disturbance.0`, `drift`. */
export type Simplification = string;

type Change = (scenario: Scenario) => Scenario;

/** Everything that a scenario can do without; what matters most for people comes first. */
function changes(drawn: Scenario): ReadonlyMap<Simplification, Change> {
  const map = new Map<Simplification, Change>();
  for (const [index, crash] of drawn.crashes.entries()) {
    map.set(`crash.${index}`, (scenario) => ({ ...scenario, crashes: scenario.crashes.filter((one) => one !== crash) }));
  }
  for (const [index, disturbance] of drawn.disturbances.entries()) {
    map.set(`disturbance.${index}`, (scenario) => ({ ...scenario, disturbances: scenario.disturbances.filter((one) => one !== disturbance) }));
  }
  for (const [index, deed] of (drawn.daemons?.deeds ?? []).entries()) {
    map.set(`daemon-deed.${index}`, ({ daemons, ...scenario }) => ({
      ...scenario,
      ...(daemons !== undefined && { daemons: { ...daemons, deeds: daemons.deeds.filter((one) => one !== deed) } }),
    }));
  }
  for (const [index, deed] of (drawn.dumps?.deeds ?? []).entries()) {
    map.set(`dump-deed.${index}`, ({ dumps, ...scenario }) => ({
      ...scenario,
      ...(dumps !== undefined && { dumps: { ...dumps, deeds: dumps.deeds.filter((one) => one !== deed) } }),
    }));
  }
  for (const key of ['deeds', 'monitors', 'thresholds'] as const) {
    for (const [index, left] of (drawn.remedies?.[key] ?? []).entries()) map.set(`remedy-${key}.${index}`, withoutOne(key, left));
  }
  for (const [index, deed] of (drawn.secondaries?.deeds ?? []).entries()) {
    map.set(`deed.${index}`, (scenario) =>
      changeSecondaries(scenario, (secondaries) => ({ ...secondaries, deeds: secondaries.deeds.filter((one) => one !== deed) })),
    );
  }
  for (const [index, deed] of (drawn.secondaries?.hosts?.deeds ?? []).entries()) {
    map.set(`host-deed.${index}`, (scenario) =>
      changeSecondaries(scenario, ({ hosts, ...secondaries }) => ({
        ...secondaries,
        ...(hosts !== undefined && { hosts: { ...hosts, deeds: hosts.deeds.filter((one) => one !== deed) } }),
      })),
    );
  }
  for (const [name, change] of Object.entries(PLAIN)) {
    if (JSON.stringify(change(drawn)) !== JSON.stringify(drawn)) map.set(name, change);
  }
  return map;
}

/** One threshold at least is needed, or there would be no Configuration. */
function withoutOne(key: 'deeds' | 'monitors' | 'thresholds', left: object): Change {
  return ({ remedies, ...scenario }) => {
    if (remedies === undefined || (key === 'thresholds' && remedies.thresholds.length === 1)) return { ...scenario, ...(remedies && { remedies }) };
    const changed: RemedyWorld = { ...remedies, [key]: (remedies[key] as readonly object[]).filter((one) => one !== left) };
    return { ...scenario, remedies: changed };
  };
}

const PLAIN: Readonly<Record<string, Change>> = {
  storage: (scenario) => changeWays(scenario, ({ storage: _storage, ...ways }) => ways),
  program: (scenario) => changeWays(scenario, ({ program: _program, ...ways }) => ways),
  unnamed: (scenario) => changeWays(scenario, ({ areUnnamed: _areUnnamed, ...ways }) => ways),
  pace: (scenario) => changeWays(scenario, ({ podsPerMinute: _podsPerMinute, ...ways }) => ways),
  pods: (scenario) => changeWays(scenario, (ways) => ({ ...ways, podsPerNode: 1 })),
  secondaries: (scenario) => {
    const alone = { ...scenario };
    delete alone.secondaries;
    return alone;
  },
  crowd: (scenario) => {
    const empty = { ...scenario };
    delete empty.crowd;
    return empty;
  },
  dumps: (scenario) => {
    const undumped = { ...scenario };
    delete undumped.dumps;
    return undumped;
  },
  pool: (scenario) =>
    changeSecondaries(scenario, (secondaries) => {
      const unkept = { ...secondaries, composed: { ...secondaries.composed, preservation: false } };
      delete unkept.pool;
      return unkept;
    }),
  check: (scenario) =>
    changeSecondaries(scenario, (secondaries) => {
      const unchecked = { ...secondaries };
      delete unchecked.check;
      return unchecked;
    }),
  // Who vouches for whom follows from how many there are.
  nodes: (scenario) => (scenario.daemons === undefined && scenario.remedies === undefined ? { ...scenario, nodes: needed(scenario) } : scenario),
  datagrams: (scenario) =>
    scenario.daemons === undefined
      ? scenario
      : { ...scenario, daemons: { ...scenario.daemons, datagrams: { ...scenario.daemons.datagrams, lostShare: 0, doubledShare: 0, lateShare: 0 } } },
  'kdump-datagrams': ({ dumps, ...scenario }) => ({
    ...scenario,
    ...(dumps !== undefined && { dumps: { ...dumps, datagrams: { ...dumps.datagrams, lostShare: 0, doubledShare: 0, lateShare: 0 } } }),
  }),
  replica: (scenario) => (scenario.hosts === undefined ? { ...scenario, controllers: 1 } : scenario),
  faults: (scenario) => ({ ...scenario, api: CALM_API }),
  drift: (scenario) => ({ ...scenario, clockRates: { replicas: [1, 1], kubelets: 1 } }),
  policies: (scenario) => ({ ...scenario, configuration: { ...scenario.configuration, policies: 'off' } }),
  feed: (scenario) => {
    const fed = { ...scenario };
    delete fed.feed;
    return fed;
  },
  hosts: (scenario) => {
    const apart = { ...scenario };
    delete apart.hosts;
    return apart;
  },
  device: (scenario) => ({ ...scenario, device: 'honest' }),
  slowness: (scenario) => ({ ...scenario, deviceEffectMs: [50, 1_500] }),
  flaps: (scenario) => ({ ...scenario, flaps: scenario.flaps.slice(0, 1) }),
  heal: (scenario) => ({ ...scenario, healAfterOffMs: undefined }),
  panic: (scenario) =>
    scenario.daemons === undefined && scenario.remedies === undefined
      ? { ...scenario, fault: 'panic', flaps: [], healAfterOffMs: undefined }
      : scenario,
  fault: (scenario) => (scenario.remedies === undefined ? scenario : { ...scenario, fault: 'none', flaps: [] }),
  secret: (scenario) => ({ ...scenario, isMisconfigured: false }),
};

function changeWays(scenario: Scenario, change: (ways: Ways) => Ways): Scenario {
  return scenario.ways === undefined ? scenario : { ...scenario, ways: change(scenario.ways) };
}

function changeSecondaries(scenario: Scenario, change: (secondaries: SecondaryControllers) => SecondaryControllers): Scenario {
  return scenario.secondaries === undefined ? scenario : { ...scenario, secondaries: change(scenario.secondaries) };
}

/** The nodes that something happens to, and one more that may take the workload. */
function needed({ nodes, victim, disturbances, secondaries }: Scenario): readonly string[] {
  const named = new Set([
    ...(secondaries?.nodes ?? []),
    ...(secondaries?.hosts?.nodes ?? []),
    ...failing({ victim, disturbances }),
    ...disturbances.flatMap((one) => ('node' in one ? [one.node] : [])),
  ]);
  return nodes.filter((node, index) => index < 2 || named.has(node) || named.has(nodes[index - 1] ?? ''));
}

/** The names of what can be left out of a scenario. */
export function simplificationsOf(drawn: Scenario): readonly Simplification[] {
  return [...changes(drawn).keys()];
}

/** The scenario without what is named; what must come of it follows. Throws for a name that says nothing here. */
export function simplified(drawn: Scenario, names: readonly Simplification[]): Scenario {
  const known = changes(drawn);
  let scenario = drawn;
  for (const name of names) {
    const change = known.get(name);
    if (change === undefined) {
      throw new Error(`${name} cannot be left out of seed ${drawn.seed}: it has ${[...known.keys()].join(', ')}`);
    }
    scenario = change(scenario);
  }
  const { daemons } = scenario;
  return daemons === undefined ? { ...scenario, expected: expectedOf(scenario) } : foreseen({ ...scenario, daemons });
}
