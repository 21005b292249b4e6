import type { SurveyProblem } from '../../config/survey.ts';
import { readSpec as readMetal3Spec } from '../../controllers/metal3-remediation/spec.ts';
import { readSpec } from '../../controllers/node-remediation/spec.ts';
import { offTimeTooShort } from '../../domain/off-time.ts';
import type { Resource } from '../../ports/cluster.ts';
import { metal3Remediations } from '../../ports/metal3.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { findRemediations } from '../../manager/metal3-remediation/found-remediations.ts';
import { servedKinds } from '../../manager/node-remediation/served-kinds.ts';
import type { Requester } from './input.ts';
import { orUndefined } from './permitted.ts';
import type { ReportedNode } from './report.ts';

type Access = Pick<ClusterAccess, 'transport' | 'cluster' | 'clock'>;

/** Templates of this cluster by which fences are asked for. Those of Metal3 where no operator serves the hosts: the power cycles of one are not delayed by anything of a fence. */
export async function requestersOf({ transport, cluster, clock }: Access): Promise<Requester[]> {
  const found: Requester[] = [];
  const add = async <T extends KubeObject>(templates: Resource<T>, timeoutOf: (spec: unknown) => number): Promise<void> => {
    for (const template of (await orUndefined(cluster.list(templates))) ?? []) {
      const { namespace = '', name } = template.metadata;
      const { spec } = template as { spec?: { template?: { spec?: unknown } } };
      found.push({ where: `${templates.kind} ${namespace}/${name}`, powerOffTimeoutMs: timeoutOf(spec?.template?.spec) });
    }
  };
  for (const { templates } of await servedKinds(transport)) {
    await add(templates, (spec) => readSpec(`${templates.group}/${templates.version}`, spec).settings.powerOffTimeoutMs);
  }
  const { served, operator } = await findRemediations(transport, clock.wallMs());
  if (served !== undefined && operator !== undefined && operator.leases.length + operator.deployments.length + operator.unseen.length === 0) {
    const { templates } = metal3Remediations(served);
    await add(templates, (spec) => readMetal3Spec(`${templates.group}/${templates.version}`, spec).settings.powerOffTimeoutMs);
  }
  return found;
}

/** Which nodes a template is for is its health check's to say: it is told of each that it could not be for. */
export function requesterProblems(nodes: readonly Pick<ReportedNode, 'facts' | 'plan'>[], requesters: readonly Requester[]): SurveyProblem[] {
  const switched = nodes.filter(({ plan }) => plan.powerManagement.length > 0);
  return requesters.flatMap(({ where, powerOffTimeoutMs }) => {
    const byMessage = new Map<string, string[]>();
    for (const { facts, plan } of switched) {
      const words = offTimeTooShort(powerOffTimeoutMs, plan.timing);
      if (words !== undefined) byMessage.set(words, [...(byMessage.get(words) ?? []), facts.name]);
    }
    return [...byMessage].map(([message, names]) => ({
      severity: 'warning' as const,
      where,
      message,
      steps: ['power-management' as const],
      nodes: names,
    }));
  });
}
