import type { SurveyProblem } from '../../config/survey.ts';
import { isTarget } from '../../controllers/machine-health-check/evaluate.ts';
import { readHealthCheck } from '../../controllers/machine-health-check/read/health-check.ts';
import { readMachine } from '../../controllers/machine-health-check/read/machine.ts';
import { keyOf } from '../../controllers/machine-health-check/snapshot.ts';
import type { MachineFacts, ReadCheck } from '../../controllers/machine-health-check/snapshot.ts';
import type { Resource } from '../../ports/cluster.ts';
import { machineHealthChecks } from '../../ports/cluster-api.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { findFamilies } from '../../manager/health-checks/found-families.ts';
import { orUndefined } from './permitted.ts';

/** What is wrong in the MachineHealthChecks of this cluster, whoever serves them: each a warning, for fencing goes on without them. */
export async function healthCheckWarnings({
  transport,
  cluster,
  clock,
}: Pick<ClusterAccess, 'transport' | 'cluster' | 'clock'>): Promise<SurveyProblem[]> {
  const warnings: SurveyProblem[] = [];
  for (const { served } of await findFamilies(transport, clock.wallMs())) {
    if (served === undefined) continue;
    const ofChecks = machineHealthChecks(served.group, served.version);
    const ofMachines: Resource<UntypedObject> = { ...ofChecks, kind: 'Machine', plural: 'machines' };
    const [checks = [], machines = []] = await Promise.all([orUndefined(cluster.list(ofChecks)), orUndefined(cluster.list(ofMachines))]);
    const apiVersion = `${served.group}/${served.version}`;
    const read = checks.map((check) => readHealthCheck({ ...check, apiVersion }, served));
    const found = machines.map((machine) => readMachine({ ...machine, apiVersion }, served));
    warnings.push(...faults(read), ...overlaps(read, found));
  }
  return warnings;
}

function faults(checks: readonly ReadCheck[]): SurveyProblem[] {
  return checks.flatMap(({ check, problems }) => problems.map((problem) => warning(keyOf(check), `${problem}. It does nothing`)));
}

/** Of each two checks that select a machine both, the one that was there first has it. */
function overlaps(checks: readonly ReadCheck[], machines: readonly MachineFacts[]): SurveyProblem[] {
  const usable = checks.filter(({ problems }) => problems.length === 0).map(({ check }) => check);
  const order = [...usable].sort((one, other) => one.createdMs - other.createdMs || (one.name < other.name ? -1 : 1));
  const shared = new Map<string, string[]>();
  for (const machine of machines) {
    const [first, ...others] = order.filter((check) => isTarget(check, machine)).map(keyOf);
    for (const other of others) shared.set(`${other}\n${first ?? ''}`, [...(shared.get(`${other}\n${first ?? ''}`) ?? []), machine.name]);
  }
  return [...shared]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([pair, names]) => {
      const [other = '', first = ''] = pair.split('\n');
      const example = names.toSorted()[0] ?? '';
      const message = `selects ${names.length} of the Machines of MachineHealthCheck ${first} as well, such as ${example}: give each Machine one check, or two controllers contradict each other`;
      return warning(other, message);
    });
}

function warning(check: string, message: string): SurveyProblem {
  return { severity: 'warning', where: `MachineHealthCheck ${check}`, message, steps: [], nodes: [] };
}
