import type { KubeObject } from '../../ports/objects.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCE_STOPS } from '../../ports/resources.ts';
import { CONTROLLER_ACCOUNT, NAMESPACE, OWN_ACCESS } from '../access.ts';
import type { Binding, Role } from '../access.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, NODE_FENCE_DEFINITION, NODE_FENCE_REPORT_DEFINITION } from '../definitions.ts';
import type { CustomResourceDefinition } from '../definitions.ts';
import { COMPONENT, CONTROLLER_NAME, deployment } from '../deployment.ts';

/** Of `policy/v1`. */
const OLDEST_KUBERNETES = '1.21.0';
const PURPOSE = 'Proves that a failed Kubernetes node cannot write any more, frees its workload, brings the node back.';
const DESCRIPTION = `${PURPOSE}

It observes until its Subscription says otherwise: \`spec.config.env\` with \`NODEFENCE_MODE\` = \`enforce\`. How each node is fenced stands in ConfigMaps and Secrets of its namespace.

**Before it is installed**: \`kubectl apply -k config/other-namespaces\`, of its repository. OLM installs no roles in other namespaces, and without these two the controller is not ready and fences nothing: it reads the Leases of kubelets in \`kube-node-lease\`, and the addresses of the API servers in \`default\`.
`;

/** What the image was built and tried for. */
const PLATFORMS = { 'operatorframework.io/os.linux': 'supported', 'operatorframework.io/arch.amd64': 'supported' };

interface Environment {
  name: string;
  value?: string;
}

interface PodTemplate {
  spec: { containers: { args: readonly string[]; env: readonly Environment[] }[] };
}

interface DeploymentSpec {
  template: PodTemplate;
}

/** A Subscription of OLM changes variables and no arguments: what the controller is to do is told by one. */
function byVariables(spec: DeploymentSpec): object {
  const containers = spec.template.spec.containers.map(({ args, env, ...rest }) => {
    const place = args.indexOf('--mode');
    const mode = { name: 'NODEFENCE_MODE', value: args[place + 1] ?? '' };
    return { ...rest, args: args.toSpliced(place, 2), env: [mode, ...env] };
  });
  return { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, containers } } };
}

function isRole(object: Role | Binding): object is Role {
  return 'rules' in object;
}

/** Roles of our own namespace and of the cluster. A bundle has none in namespaces of others: those are a folder of their own, which is applied beside it. */
function permissions(): { permissions: object[]; clusterPermissions: object[] } {
  const roles = OWN_ACCESS.filter(isRole);
  const own = roles.filter(({ metadata }) => metadata.namespace === NAMESPACE);
  const rulesOf = (list: readonly Role[]): object[] => [{ serviceAccountName: CONTROLLER_ACCOUNT, rules: list.flatMap(({ rules }) => rules) }];
  return { permissions: rulesOf(own), clusterPermissions: rulesOf(roles.filter((role) => !own.includes(role))) };
}

function owned({ metadata, spec: { names, versions } }: CustomResourceDefinition): object {
  const version = versions[0];
  const description = version?.schema.openAPIV3Schema.description ?? '';
  return { name: metadata.name, version: version?.name ?? '', kind: names.kind, displayName: names.kind, description };
}

/** What people write themselves; the other kinds are the controller's. */
const EXAMPLES: readonly KubeObject[] = [
  example(NODE_FENCE_STOPS, 'worker-1', { node: 'worker-1', reason: 'its power supply is replaced' }),
  example(NODE_FENCE_ACKNOWLEDGEMENTS, 'worker-1', {
    node: 'worker-1',
    nodeFenceUID: '00000000-0000-0000-0000-000000000000',
    incident: 1,
    reason: 'I pulled its power cords',
  }),
];

function example({ group, version, kind }: { group: string; version: string; kind: string }, name: string, spec: object): KubeObject & { spec: object } {
  return { apiVersion: `${group}/${version}`, kind, metadata: { name }, spec };
}

const INTERNAL = [NODE_FENCE_DEFINITION, NODE_FENCE_REPORT_DEFINITION].map(({ metadata }) => metadata.name);

/**
 * In its own namespace alone: for all namespaces, OLM would let the controller read the Secrets of every namespace, and whoever edits anything would write our
 * kinds.
 */
const INSTALL_MODES = ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
  type,
  supported: type === 'OwnNamespace',
}));

/** The ClusterServiceVersion, by which OLM installs the controller. */
export function serviceVersion(version: string, image: string): KubeObject {
  const { spec } = deployment({ image, mode: 'observe' }) as unknown as { spec: DeploymentSpec };
  const object = {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: `nodefence.v${version}`,
      labels: PLATFORMS,
      annotations: {
        'alm-examples': JSON.stringify(EXAMPLES),
        capabilities: 'Seamless Upgrades',
        categories: 'Monitoring',
        containerImage: image,
        description: PURPOSE,
        'operatorframework.io/suggested-namespace': NAMESPACE,
        'operators.operatorframework.io/internal-objects': JSON.stringify(INTERNAL),
      },
    },
    spec: {
      displayName: 'nodefence',
      description: DESCRIPTION,
      version,
      maturity: 'alpha',
      minKubeVersion: OLDEST_KUBERNETES,
      keywords: ['fencing', 'stonith', 'high availability', 'node'],
      provider: { name: 'the authors of nodefence' },
      maintainers: [{ name: 'nodefence maintainers', email: 'maintainers@nodefence.invalid' }],
      relatedImages: [{ name: 'controller', image }],
      customresourcedefinitions: { owned: CUSTOM_RESOURCE_DEFINITIONS.map(owned) },
      install: {
        strategy: 'deployment',
        spec: { ...permissions(), deployments: [{ name: CONTROLLER_NAME, label: COMPONENT, spec: byVariables(spec) }] },
      },
      installModes: INSTALL_MODES,
    },
  };
  return object;
}
