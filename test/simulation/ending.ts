import { FENCE_NAME_PREFIX, fenceName } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { Node } from '../../src/ports/objects.ts';
import { NODES, PODS } from '../../src/ports/resources.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import { CORDON_MARK } from './remedies/remedy-events.ts';
import { mayStayClosed } from './expected.ts';
import { endStateOf } from './rest.ts';
import { concerned, isCutOff } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { World } from './world.ts';

/** What is wrong with how the world stands at the end: a fence has not ended, has ended another way, or left the workload behind. */
export async function endOf(world: World, scenario: Scenario, nowMs: number): Promise<string[]> {
  const { expected, victim } = scenario;
  const name = fenceName(victim);
  const status = world.fence.of(name);
  const state = endStateOf(status);
  const wrong: string[] = [];
  wrong.push(...world.openRequests().map((request) => `after ${(nowMs / 1000).toFixed(0)} s of virtual time a request is open: ${request}`));
  if (!world.isOver()) {
    const open = world.fence.names.map((fence) => `${fence} ${describe(world.fence.of(fence))}`);
    wrong.push(`after ${(nowMs / 1000).toFixed(0)} s of virtual time the fence has not ended: ${open.join('; ')}`);
  } else if (state === undefined ? !mayStayClosed(scenario) : !expected.states.includes(state)) {
    wrong.push(`the fence ended as ${describe(status)} instead of ${expected.states.join(' or ')}`);
  }
  wrong.push(...otherFences(world, scenario));
  if (world.isOver()) wrong.push(...(await closedInVain(world)));
  if (world.isOver()) wrong.push(...(await world.remedies.left()));
  if (expected.release === 'must' && world.releasesOf(victim) === 0) {
    wrong.push('the workload was never released');
  }
  if (expected.release === 'unless-held' && world.releasesOf(victim) === 0 && !world.fence.saysWhatHeld(name)) {
    wrong.push('the workload was never released, and its fence never said what held it');
  }
  if (expected.release === 'never' && world.releasesOf(victim) > 0) {
    wrong.push(`the workload was released ${world.releasesOf(victim)} times although nothing was proven`);
  }
  if (wrong.length === 0 && world.fence.names.every((fence) => world.fence.of(fence)?.state === 'final')) {
    wrong.push(...(await unrecovered(world, scenario)));
  }
  return wrong;
}

/** Of whose first words nothing arrives, or the API server takes nothing, where a node without the condition Ready is taken for failed within seconds. */
function isUnheard({ ways, api, disturbances }: Scenario, status: NodeFenceStatus | undefined): boolean {
  const isMute = api !== CALM_API || disturbances.some((one) => one.what === 'burst' && one.how === 'status-refused');
  return ways !== undefined && isMute && status?.trigger?.status === 'missing';
}

function otherFences(world: World, scenario: Scenario): string[] {
  const failed = concerned(scenario);
  return world.fence.names.flatMap((fence) => {
    const node = fence.slice(FENCE_NAME_PREFIX.length);
    const status = world.fence.of(fence);
    if (failed.has(node)) return [];
    // A sound node may have been suspected and cordoned then, and after an outage of everything; that nothing was switched there is checked at every set.
    const mayBeSuspected = isCutOff(scenario) || isUnheard(scenario, status);
    return mayBeSuspected && status?.state === 'final' ? [] : [`a node that did not fail was fenced: ${fence} (${describe(status)})`];
  });
}

/** A fence that has not ended waits for a boot that has not come. */
async function closedInVain(world: World): Promise<string[]> {
  const nodes = await world.api.admin.list(NODES);
  return world.fence.names.flatMap((name) => {
    const status = world.fence.of(name);
    const bootID = nodes.find(({ metadata }) => fenceName(metadata.name) === name)?.status.nodeInfo?.bootID;
    if (endStateOf(status) !== undefined || bootID === undefined) return [];
    const isBooted = status?.evidence.every((item) => item.bootID !== bootID) === true;
    return isBooted ? [`${name} keeps storage closed although its node booted anew`] : [];
  });
}

function describe(status: NodeFenceStatus | undefined): string {
  return status === undefined ? 'none' : `${status.state}, ${status.step}: ${status.message ?? '-'}`;
}

function isCordonOfRemedy({ metadata }: Node): boolean {
  return metadata.annotations?.[CORDON_MARK] !== undefined;
}

/** A person, or whoever had asked for it, let the fence go while its way to the storage did not answer: what may be closed still is told, and the node gets no pods. */
function mayStayCordoned({ ways, disturbances, secondaries, victim }: Scenario, node: string): boolean {
  const behaviour = ways?.storage?.behaviour ?? 'honest';
  const isLetGo = disturbances.some(({ what }) => what === 'delete-fence') || secondaries?.nodes.includes(victim) === true;
  return node === victim && behaviour !== 'honest' && behaviour !== 'slow' && isLetGo;
}

/** After a recovery every node is Ready and free of our marks, and every pod of the StatefulSet runs. */
async function unrecovered(world: World, scenario: Scenario): Promise<string[]> {
  const wrong: string[] = [];
  const nodes = await world.api.admin.list(NODES);
  for (const node of nodes) {
    const { name } = node.metadata;
    if (node.status.conditions?.find((condition) => condition.type === 'Ready')?.status !== 'True') {
      wrong.push(`node ${name} is not Ready at the end`);
    }
    if (node.spec.unschedulable === true && !isCordonOfRemedy(node) && !mayStayCordoned(scenario, name)) {
      wrong.push(`node ${name} is still cordoned`);
    }
  }
  const expected = scenario.nodes.filter((node) => !world.isGone(node)).length;
  if (nodes.length !== expected) {
    wrong.push(`there are ${nodes.length} nodes instead of ${expected}`);
  }
  // Where remedies keep pods from nodes some have no place.
  if (nodes.some(isCordonOfRemedy)) return wrong;
  const pods = await world.api.admin.list(PODS, { namespace: 'default' });
  const ready = pods.filter((pod) => pod.status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true);
  if (ready.length !== world.replicas) {
    wrong.push(`${ready.length} of ${world.replicas} pods are ready at the end`);
  }
  return wrong;
}
