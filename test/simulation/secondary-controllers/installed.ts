import { createFleet, POOL } from '../../../src/testbed/operators/fleet.ts';
import {
  createHostFleet,
  HOST_DEFINITIONS,
  HOST_MACHINES,
  hostMachineName,
  hostName,
  HOSTS_CLUSTER,
  HOSTS_NAMESPACE,
} from '../../../src/testbed/operators/host-fleet.ts';
import { sendShipped } from '../../../src/testbed/shipped/send.ts';
import type { ApiClient } from '../../../src/kube/client.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../../src/manifests/access.ts';
import { OPERATOR_DEPLOYMENTS } from '../../../src/manifests/machine-remediation-access.ts';
import type { ApiTransport } from '../../../src/ports/api-transport.ts';
import { CLUSTER_API_GROUP, machineHealthChecks } from '../../../src/ports/cluster-api.ts';
import type { Resource } from '../../../src/ports/cluster.ts';
import { BARE_METAL_HOSTS } from '../../../src/ports/metal3.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import { NODE_FENCE_REMEDIATION } from '../../../src/ports/remediation.ts';
import { CONFIG_MAPS } from '../../../src/ports/resources.ts';
import { FENCE_NAMESPACE } from '../configuration.ts';
import { rackOf } from '../racks.ts';
import { ILLNESS } from './secondary-controllers.ts';
import type { Check, Hosts, Pool, SecondaryControllers } from './secondary-controllers.ts';

const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true };
const [OPERATOR = ''] = OPERATOR_DEPLOYMENTS;
const UNMINDED = { status: { provisioning: null } };
const PAUSED = 'baremetalhost.metal3.io/paused';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const DEADLINE_MS = 10_000;
const WARD = 'simulation/ward';
const CHECK = 'ward';
const TEMPLATE = 'ward';

export interface Site {
  admin: ApiClient;
  transport: ApiTransport;
  nodes: readonly string[];
  wallMs: number;
}

/** What an administrator installs for the controllers beside: their kinds, the Machines of all nodes, and a health check. */
export async function installSecondaries({ admin, transport, nodes, wallMs }: Site, secondaries: SecondaryControllers): Promise<void> {
  await admin.create(NAMESPACES, { metadata: { name: MEDIK8S_LEASE_NAMESPACE } });
  for (const body of HOST_DEFINITIONS) await transport.request({ method: 'POST', path: DEFINITIONS, body, deadlineMs: DEADLINE_MS });
  await sendShipped(transport, ['remediation', 'machine-health-check-crd']);
  await createHostFleet(admin, nodes, wallMs);
  if (secondaries.hosts !== undefined) await prepareHosts({ admin, transport, nodes, wallMs }, secondaries.hosts);
  for (const node of secondaries.nodes) {
    const patch = { metadata: { labels: { [WARD]: 'yes' } } };
    await admin.mergePatch(HOST_MACHINES, hostMachineName(node), patch, { namespace: HOSTS_NAMESPACE });
  }
  if (secondaries.check !== undefined) await createCheck(admin, secondaries.check);
  if (secondaries.pool !== undefined) await createPool({ admin, transport, nodes, wallMs }, secondaries.nodes, secondaries.pool);
}

/** The Deployment by which everybody knows that an operator is there; hosts of machines that a fence switches are not its own. Without one nobody ever wrote a status. */
async function prepareHosts({ admin, transport, nodes }: Site, hosts: Hosts): Promise<void> {
  await sendShipped(transport, ['metal3-remediation-crd']);
  const namespace = HOSTS_NAMESPACE;
  if (!hosts.isServed) {
    for (const node of nodes) await admin.mergePatch(BARE_METAL_HOSTS, hostName(node), UNMINDED, { namespace, subresource: 'status' });
    return;
  }
  const labels = { app: OPERATOR };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'manager', image: 'baremetal-operator' }] } };
  const deployment: KubeObject & { spec: object } = {
    metadata: { name: OPERATOR, namespace },
    spec: { selector: { matchLabels: labels }, template },
  };
  await admin.create(DEPLOYMENTS, deployment);
  const patch = { metadata: { annotations: { [PAUSED]: '' } } };
  for (const node of nodes.filter((name) => !hosts.nodes.includes(name)))
    await admin.mergePatch(BARE_METAL_HOSTS, hostName(node), patch, { namespace });
}

/** A Machine for each node that is theirs, in the zone of its rack. */
async function createPool({ admin, transport, nodes }: Site, owned: readonly string[], { most, preserveMs, healthMs }: Pool): Promise<void> {
  await sendShipped(transport, ['machine-crd']);
  const fleet = owned.map((node) => ({ node, zone: rackOf(nodes.indexOf(node)) }));
  await createFleet(admin, fleet, () => Promise.resolve());
  const settings = {
    autoPreserveFailedMachineMax: most,
    machinePreserveTimeout: secondsText(preserveMs),
    machineHealthTimeout: secondsText(healthMs),
  };
  const metadata = { name: 'preservation-pools', namespace: FENCE_NAMESPACE };
  await admin.create(CONFIG_MAPS, { metadata, data: { [POOL]: JSON.stringify(settings) } });
}

function secondsText(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)}s`;
}

async function createCheck(admin: ApiClient, { timeoutMs, atMost, spec }: Check): Promise<void> {
  const { templates } = NODE_FENCE_REMEDIATION;
  const namespace = HOSTS_NAMESPACE;
  await admin.create(templates, { metadata: { name: TEMPLATE, namespace }, spec: { template: { spec } } });
  const timeoutSeconds = timeoutMs / 1_000;
  await admin.create(machineHealthChecks(CLUSTER_API_GROUP, HOST_MACHINES.version), {
    metadata: { name: CHECK, namespace },
    spec: {
      clusterName: HOSTS_CLUSTER,
      selector: { matchLabels: { [WARD]: 'yes' } },
      checks: {
        nodeStartupTimeoutSeconds: 0,
        unhealthyNodeConditions: [
          ...['Unknown', 'False'].map((status) => ({ type: 'Ready', status, timeoutSeconds })),
          { type: ILLNESS, status: 'True', timeoutSeconds },
        ],
      },
      remediation: {
        triggerIf: { unhealthyLessThanOrEqualTo: /^\d+$/.test(atMost) ? Number(atMost) : atMost },
        templateRef: { apiVersion: `${templates.group}/${templates.version}`, kind: templates.kind, name: TEMPLATE },
      },
    },
  });
}
