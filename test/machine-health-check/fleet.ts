import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { checkObject, clusterObject, machineObject, nodeConditionsOf, TEMPLATE_REF, templateObject } from './objects.ts';
import type { MachineParts, Version } from './objects.ts';
import { World } from './world.ts';
import type { Scene } from './world.ts';

/** well: Ready. pending: not Ready for 100 of 300 seconds. failed: for 400. gone: its node was deleted. starting: no node yet, since a minute. */
export type State = 'well' | 'pending' | 'failed' | 'gone' | 'starting';

const NODES: Readonly<Record<State, object[] | undefined>> = {
  well: nodeConditionsOf('True', 100),
  pending: nodeConditionsOf('Unknown', 100),
  failed: nodeConditionsOf('Unknown', 400),
  gone: undefined,
  starting: undefined,
};

const CRITERIA = {
  unhealthyNodeConditions: [
    { type: 'Ready', status: 'Unknown', timeoutSeconds: 300 },
    { type: 'Ready', status: 'False', timeoutSeconds: 300 },
  ],
};

export interface FleetOptions extends Scene {
  /** Parts of single machines, by their name. */
  parts?: Record<string, MachineParts>;
  version?: Version;
  /** spec.remediation of the check. */
  remediation?: object;
  /** Of the check. */
  annotations?: Record<string, string>;
}

function machinesOf(states: Record<string, State>, { parts = {}, version = 'v1beta2' }: FleetOptions): UntypedObject[] {
  return Object.entries(states).map(([name, state]) => {
    const own = state === 'starting' ? { nodeName: null, ageSeconds: 60 } : {};
    return machineObject(name, { ...own, ...parts[name] }, version);
  });
}

/** One check, `mhc`, over machines in the states that are named. */
export function fleet(states: Record<string, State>, options: FleetOptions = {}): World {
  const { remediation = {}, annotations = {} } = options;
  const nodes = Object.entries(states).flatMap(([name, state]): [string, object[]][] => {
    const conditions = NODES[state];
    return conditions === undefined ? [] : [[`node-of-${name}`, conditions]];
  });
  return new World({
    checks: [checkObject('mhc', { checks: CRITERIA, remediation }, 'v1beta2', { annotations })],
    clusters: [clusterObject()],
    machines: machinesOf(states, options),
    nodes: Object.fromEntries(nodes),
    ...options,
  });
}

/** The same with an external remediation. */
export function externalFleet(states: Record<string, State>, options: FleetOptions = {}): World {
  const { remediation = {}, ...rest } = options;
  return fleet(states, { templates: [templateObject()], remediation: { templateRef: TEMPLATE_REF, ...remediation }, ...rest });
}

/** The same check in the seed's shape, over the same machines without a Cluster. */
export function seedFleet(states: Record<string, State>, spec: object, options: FleetOptions = {}): World {
  const unhealthyConditions = CRITERIA.unhealthyNodeConditions.map(({ type, status }) => ({ type, status, timeout: '5m' }));
  return fleet(states, { checks: [checkObject('mhc', { unhealthyConditions, ...spec }, 'v1alpha3')], hasClusters: false, ...options });
}

export function setNode(world: World, machine: string, state: State): void {
  const { [`node-of-${machine}`]: _gone, ...others } = world.nodes;
  const conditions = NODES[state];
  world.nodes = conditions === undefined ? others : { ...others, [`node-of-${machine}`]: conditions };
}
