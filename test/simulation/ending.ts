import { fenceName } from '../../src/domain/node-fence.ts';
import { NODES, PODS } from '../../src/ports/resources.ts';
import { isCutOff } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import type { World } from './world.ts';

/** What is wrong with how the world stands at the end: the fence has not ended, has ended another way, or left the workload behind. */
export async function endOf(world: World, scenario: Scenario, nowMs: number): Promise<string[]> {
  const name = fenceName(scenario.victim);
  const status = world.fence.of(name);
  const state = status?.state ?? 'none';
  const wrong: string[] = [];
  if (!world.isOver()) {
    wrong.push(
      `after ${(nowMs / 1000).toFixed(0)} s of virtual time the fence has not ended: ${state}, ${status?.step ?? '-'}: ${status?.message ?? '-'}`,
    );
  } else if (!scenario.expected.states.some((expected) => expected === state)) {
    wrong.push(`the fence ended as ${state} instead of ${scenario.expected.states.join(' or ')}: ${status?.message ?? '-'}`);
  }
  for (const other of world.fence.names.filter((candidate) => candidate !== name)) {
    // After an outage of everything a sound node may have been suspected and cordoned; that nothing was switched there is checked at every set.
    if (!isCutOff(scenario) || world.fence.of(other)?.state !== 'final') {
      wrong.push(`a node that did not fail was fenced: ${other} (${world.fence.of(other)?.message ?? '-'})`);
    }
  }
  if (scenario.expected.release === 'must' && world.releases === 0) {
    wrong.push('the workload was never released');
  }
  if (scenario.expected.release === 'never' && world.releases > 0) {
    wrong.push(`the workload was released ${world.releases} times although nothing was proven`);
  }
  if (wrong.length === 0 && state === 'final') {
    wrong.push(...(await unrecovered(world, scenario)));
  }
  return wrong;
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
    if (node.spec.unschedulable === true) {
      wrong.push(`node ${name} is still cordoned`);
    }
  }
  if (nodes.length !== scenario.nodes.length) {
    wrong.push(`there are ${nodes.length} nodes instead of ${scenario.nodes.length}`);
  }
  const pods = await world.api.admin.list(PODS, { namespace: 'default' });
  const ready = pods.filter((pod) => pod.status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true);
  if (ready.length !== world.replicas) {
    wrong.push(`${ready.length} of ${world.replicas} pods are ready at the end`);
  }
  return wrong;
}
