import { CLUSTER_API_GROUP, machineHealthChecks } from '../../../ports/cluster-api.ts';
import type { ClusterCondition, ClusterMachine, UntypedObject } from '../../../ports/cluster-api.ts';
import type { Resource } from '../../../ports/cluster.ts';
import type { NodeFenceRemediation, NodeFenceRemediationSpec } from '../../../ports/remediation.ts';
import { NODE_FENCE_REMEDIATION } from '../../../ports/remediation.ts';
import { HOST_MACHINES, hostMachineName, HOSTS_CLUSTER, HOSTS_NAMESPACE } from '../../../testbed/operators/host-fleet.ts';
import { firstAnswer } from '../../run/pause.ts';
import { ILLNESS } from '../illness.ts';
import type { FaultStage } from '../script.ts';

const POLL_MS = 150;
const ILL_SECONDS = 2;
const HEALTH_CHECKS = machineHealthChecks(CLUSTER_API_GROUP, 'v1beta2') as Resource<HealthCheck>;
const { requests: REQUESTS, templates: TEMPLATES } = NODE_FENCE_REMEDIATION;

interface HealthCheck extends UntypedObject {
  status?: { expectedMachines?: number; currentHealthy?: number; remediationsAllowed?: number; conditions?: ClusterCondition[] };
}

/** What a node or a Machine fails by in these drills. */
export const UNHEALTHY = [
  { type: ILLNESS, status: 'True', timeoutSeconds: ILL_SECONDS },
  { type: 'Ready', status: 'Unknown', timeoutSeconds: 300 },
] as const;

/** What the faults of health checks do, and look at. What is not as it must be is collected in `problems`. */
export class Checking {
  readonly problems: string[] = [];
  readonly #stage: FaultStage;

  constructor(stage: FaultStage) {
    this.#stage = stage;
  }

  /** Waits for it; a problem when it does not come. Resolves with whether it came. */
  async expect(what: string, deadlineMs: number, ask: () => boolean | Promise<boolean>): Promise<boolean> {
    const found = await firstAnswer(async () => ((await ask()) ? true : undefined), deadlineMs, POLL_MS);
    if (found === undefined) this.problems.push(`after ${deadlineMs / 1000} s still not: ${what}`);
    return found === true;
  }

  /** The same, and the audience hears of it when it has come. */
  async shows(what: string, deadlineMs: number, ask: () => boolean | Promise<boolean>): Promise<boolean> {
    const hasCome = await this.expect(what, deadlineMs, ask);
    if (hasCome) this.#stage.tell(what);
    return hasCome;
  }

  machine(node: string): Promise<ClusterMachine | undefined> {
    return this.#stage.session.cluster.get(HOST_MACHINES, hostMachineName(node), HOSTS_NAMESPACE);
  }

  /** A condition of a Machine as both lists have it, `False UnhealthyNode`; what only one list says stands alone. */
  async said(node: string, type: string): Promise<string[]> {
    const { conditions, deprecated } = (await this.machine(node))?.status ?? {};
    return [conditions, deprecated?.v1beta1?.conditions].map((list) => describeCondition(list?.find((each) => each.type === type)));
  }

  /** The request for the Machine of a node. */
  request(node: string): Promise<NodeFenceRemediation | undefined> {
    return this.#stage.session.cluster.get(REQUESTS, hostMachineName(node), HOSTS_NAMESPACE);
  }

  requests(): Promise<NodeFenceRemediation[]> {
    return this.#stage.session.cluster.list(REQUESTS);
  }

  check(name: string): Promise<HealthCheck | undefined> {
    return this.#stage.session.cluster.get(HEALTH_CHECKS, name, HOSTS_NAMESPACE);
  }

  /** `RemediationAllowed` of a check: `False TooManyUnhealthy`. */
  async allowed(name: string): Promise<string> {
    return describeCondition((await this.check(name))?.status?.conditions?.find(({ type }) => type === 'RemediationAllowed'));
  }

  /** A template of ours. */
  async template(name: string, namespace: string, spec: NodeFenceRemediationSpec): Promise<void> {
    await this.#stage.session.cluster.create(TEMPLATES, { metadata: { name, namespace }, spec: { template: { spec } } });
  }

  /** A MachineHealthCheck over all Machines of the drill. */
  async watchOver(name: string, templateRef: { apiVersion: string; kind: string; name: string }, atMost: string | number): Promise<void> {
    await this.#stage.session.cluster.create(HEALTH_CHECKS, {
      metadata: { name, namespace: HOSTS_NAMESPACE },
      spec: {
        clusterName: HOSTS_CLUSTER,
        selector: { matchLabels: { [`${CLUSTER_API_GROUP}/cluster-name`]: HOSTS_CLUSTER } },
        checks: { nodeStartupTimeoutSeconds: 0, unhealthyNodeConditions: UNHEALTHY },
        remediation: { triggerIf: { unhealthyLessThanOrEqualTo: atMost }, templateRef },
      },
    });
    const many = this.#stage.session.nodes.length;
    await this.expect(`MachineHealthCheck ${name} over ${many} healthy Machines`, 60_000, async () => {
      const status = (await this.check(name))?.status;
      return status?.expectedMachines === many && status.currentHealthy === many;
    });
    this.#stage.tell(`MachineHealthCheck ${name} looks after ${many} Machines; ${templateRef.kind} ${templateRef.name} remediates them`);
  }
}

/** How our own templates are named by health checks. */
export function templateRef(name: string): { apiVersion: string; kind: string; name: string } {
  return { apiVersion: `${TEMPLATES.group}/${TEMPLATES.version}`, kind: TEMPLATES.kind, name };
}

function describeCondition(condition: ClusterCondition | undefined): string {
  return condition === undefined ? '' : `${condition.status} ${condition.reason ?? ''}`.trim();
}
