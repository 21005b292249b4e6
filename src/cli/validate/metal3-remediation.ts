import type { SurveyProblem } from '../../config/survey.ts';
import { readSpec } from '../../controllers/metal3-remediation/spec.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { metal3Remediations } from '../../ports/metal3.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { findRemediations } from '../../manager/metal3-remediation/found-remediations.ts';

/** What is wrong in the Metal3RemediationTemplates of this cluster, whoever serves them: each a warning, for it is followed as far as it can be. */
export async function metal3RemediationWarnings({
  transport,
  cluster,
  clock,
}: Pick<ClusterAccess, 'transport' | 'cluster' | 'clock'>): Promise<SurveyProblem[]> {
  const { served } = await findRemediations(transport, clock.wallMs());
  if (served === undefined) return [];
  const { templates } = metal3Remediations(served);
  const found = await cluster.list(templates).catch((error: unknown) => {
    if (error instanceof ApiStatusError && error.status === 403) return [];
    throw error;
  });
  return found.flatMap(({ metadata: { namespace = '', name }, spec }) =>
    readSpec(`${templates.group}/${templates.version}`, spec?.template?.spec).problems.map((message) => ({
      severity: 'warning' as const,
      where: `${templates.kind} ${namespace}/${name}`,
      message,
      steps: [],
      nodes: [],
    })),
  );
}
