import type { Action, DeploymentView } from './actions.ts';
import type { MachineDeploymentFacts, MachineSetFacts, Snapshot } from './snapshot.ts';
import type { Subject } from './subject.ts';

/** Of a MachineSet or a MachineDeployment. */
export interface Counts {
  automatic: number;
  preservedFailed: number;
}

export function countPreserved(subjects: readonly Pick<Subject, 'value' | 'phase' | 'expiryMs'>[]): Counts {
  return {
    automatic: subjects.filter(({ value }) => value === 'automatic').length,
    preservedFailed: subjects.filter(({ phase, expiryMs }) => phase === 'Failed' && expiryMs !== undefined).length,
  };
}

/** MCM's condition Available of a MachineDeployment: what is preserved in Failed is not missed. */
export function availability(deployment: MachineDeploymentFacts, preservedFailed: number): DeploymentView {
  const minRequired = Math.max(0, (deployment.replicas ?? 0) - (deployment.maxUnavailable ?? 0) - preservedFailed);
  const isAvailable = (deployment.availableReplicas ?? 0) >= minRequired;
  const reason = isAvailable ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable';
  return { name: deployment.name, namespace: deployment.namespace, preservedFailed, minRequired, isAvailable, reason };
}

function grouped(subjects: readonly Subject[]): Map<string, Subject[]> {
  const bySet = new Map<string, Subject[]>();
  for (const subject of subjects) {
    if (subject.machine?.machineSet === undefined) continue;
    const key = `${subject.machine.namespace}/${subject.machine.machineSet}`;
    const members = bySet.get(key) ?? [];
    members.push(subject);
    bySet.set(key, members);
  }
  return bySet;
}

/** The counts on the status of sets and deployments, where they differ. */
export function counted(snapshot: Snapshot, subjects: readonly Subject[]): { actions: Action[]; deployments: DeploymentView[] } {
  const bySet = grouped(subjects);
  const byDeployment = new Map<string, number>();
  const actions: Action[] = [];
  for (const set of snapshot.machineSets) {
    const counts = countPreserved(bySet.get(`${set.namespace}/${set.name}`) ?? []);
    if (set.deployment !== undefined) {
      const key = `${set.namespace}/${set.deployment}`;
      byDeployment.set(key, (byDeployment.get(key) ?? 0) + counts.preservedFailed);
    }
    if (!isSame(set, counts)) actions.push({ kind: 'counts', target: refOf('MachineSet', set), ...counts });
  }
  const deployments = snapshot.machineDeployments.map((deployment) => {
    const preservedFailed = byDeployment.get(`${deployment.namespace}/${deployment.name}`) ?? 0;
    if ((deployment.preservedFailed ?? 0) !== preservedFailed) {
      actions.push({ kind: 'counts', target: refOf('MachineDeployment', deployment), preservedFailed });
    }
    return availability(deployment, preservedFailed);
  });
  return { actions, deployments };
}

function isSame(set: MachineSetFacts, { automatic, preservedFailed }: Counts): boolean {
  return (set.counts?.automatic ?? 0) === automatic && (set.counts?.preservedFailed ?? 0) === preservedFailed;
}

function refOf(
  kind: 'MachineSet' | 'MachineDeployment',
  { name, namespace, uid }: { name: string; namespace: string; uid: string },
): Action['target'] {
  return { kind, name, namespace, uid };
}
