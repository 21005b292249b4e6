import { parsePreservationPools } from '../../config/preservation-pools.ts';
import { managerActivityOf } from '../../config/preservation-mode.ts';
import type { ManagerFacts } from '../../config/preservation-mode.ts';
import { Problems } from '../../config/problems.ts';
import type { SurveyProblem } from '../../config/survey.ts';
import { MACHINE_CRD } from '../../manifests/preservation-access.ts';
import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { Node } from '../../ports/objects.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { leaderOf } from '../commands/leader.ts';
import type { Leader } from '../commands/leader.ts';
import { readLease } from '../commands/read-lease.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { POOLS_CONFIG } from '../../manager/preservation/configured-pools.ts';
import { listPicture } from '../preservation/listed-machines.ts';
import { reachMachines } from '../preservation/machine-flags.ts';
import type { MachineFlags, MachineReach } from '../preservation/machine-flags.ts';
import { readManagerFacts } from '../../manager/preservation/manager-facts.ts';
import type { Input } from './input.ts';

/** What is wrong in ConfigMap `preservation-pools`, with key and line. */
export function poolProblems({ configMaps }: Pick<Input, 'configMaps'>): SurveyProblem[] {
  const found = configMaps.find(({ name }) => name === POOLS_CONFIG);
  if (found === undefined) return [];
  const problems = new Problems();
  parsePreservationPools(found.data, problems);
  return problems.all().map(({ severity, where, message }) => ({ severity, where, message, steps: [], nodes: [] }));
}

/** What stands in the way of preservation in this cluster: each a warning, for fencing goes on without it. */
export async function preservationWarnings(access: ClusterAccess, nodes: readonly Node[], flags: MachineFlags): Promise<SurveyProblem[]> {
  const nowMs = access.clock.wallMs();
  const { lease, unread } = await readLease(access, LEADER_LEASE);
  const leader = leaderOf(lease, nowMs, unread);
  if (leader.preservation === 'off') return [];
  const reach = await reachMachines(flags, access);
  try {
    return await warningsOf(access, reach, { nodes, flags, leader, nowMs });
  } catch (error) {
    // The configuration of fences is checked all the same.
    if (reach.server === access.server || !(error instanceof TransportError || error instanceof ApiStatusError)) throw error;
    return [warning(`the cluster of the Machines at ${reach.server}`, `does not answer as it must: ${error.message}`)];
  } finally {
    reach.close();
  }
}

interface Asked {
  nodes: readonly Node[];
  flags: MachineFlags;
  leader: Leader;
  nowMs: number;
}

async function warningsOf(access: ClusterAccess, reach: MachineReach, { nodes, flags, leader, nowMs }: Asked): Promise<SurveyProblem[]> {
  const facts = await readManagerFacts(reach, nodes, nowMs);
  const { picture } = await listPicture(access, flags, leader, nowMs);
  const told = (picture?.decision.problems ?? []).map((message) => warning('preservation mode', message));
  return [...managerWarnings(facts, leader), ...told.filter(({ message }) => !message.includes('preserveExpiryTime'))];
}

/** Of the definition, and of an MCM beside us. */
export function managerWarnings(facts: ManagerFacts, { preservation }: Pick<Leader, 'preservation'>): SurveyProblem[] {
  const warnings: SurveyProblem[] = [];
  if (facts.definition?.hasExpiryField === false) {
    const message =
      'has no status.currentStatus.preserveExpiryTime: it is of an MCM before v0.62, and no Machine is preserved. Update the MCM with its definitions';
    warnings.push(warning(`CustomResourceDefinition ${MACHINE_CRD}`, message));
  }
  const activity = managerActivityOf(facts);
  if (preservation === 'own' && activity.length > 0) {
    warnings.push(
      warning('--preservation own', `an MCM is at work (${activity.join('; ')}), so nodefence only observes: remove the one or the other`),
    );
  }
  return warnings;
}

function warning(where: string, message: string): SurveyProblem {
  return { severity: 'warning', where, message, steps: [], nodes: [] };
}
