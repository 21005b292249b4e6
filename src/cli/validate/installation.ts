import type { SurveyProblem } from '../../config/survey.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { rightFaults, activeFaults } from '../self-check/installation-faults.ts';

/** What keeps the controllers from leading, whatever is configured; found as they find it themselves. */
export async function installationProblems(
  access: Pick<ClusterAccess, 'transport' | 'namespace' | 'cluster' | 'clock'>,
  notes: string[],
): Promise<SurveyProblem[]> {
  const [standing, rights] = await Promise.all([activeFaults(access), rightFaults(access)]);
  if (rights === 'unasked') {
    const right = 'kubectl create clusterrole access-reviews --verb=create --resource=subjectaccessreviews.authorization.k8s.io';
    notes.push(`you may not ask what the controller's account may do: its rights are not checked (the right: ${right})`);
  }
  if (rights === 'unused') notes.push("the controller's account has no rights here: not installed yet, or the controller runs under another one");
  const faults = [...standing, ...(typeof rights === 'string' ? [] : rights)];
  return faults.map(({ message, remedy }) => ({
    // Who has installed nothing yet validates what he is going to use.
    severity: rights === 'unused' ? 'warning' : 'error',
    where: 'the installation',
    message: `${message}: no controller begins to lead in mode enforce until it is mended (${remedy})`,
    steps: [],
    nodes: [],
  }));
}
