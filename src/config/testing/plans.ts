import type { AskedMethods } from '../../domain/node-fence.ts';
import type { Plan, PlanProblem } from '../../domain/plan.ts';
import { configurationOf } from '../configuration.ts';
import type { NodeFacts } from '../configuration.ts';
import { PlugIndex } from '../plug-index.ts';
import { resolvePlan } from '../resolve-plan.ts';
import { fakeRegistry } from './fake-agents.ts';

export type ConfigMaps = Readonly<Record<string, Readonly<Record<string, string>>>>;

const NODE: NodeFacts = {
  name: 'node-a',
  labels: { rack: 'r1', type: 'bare' },
  annotations: { bmc: '192.0.2.9' },
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
};
const SECRETS: Readonly<Record<string, readonly string[]>> = {
  'bmc-login': ['username', 'password'],
  'bmc-and-address': ['ip', 'username', 'password'],
};

interface Change {
  node?: Partial<NodeFacts>;
  secrets?: typeof SECRETS;
  withoutSecrets?: boolean;
  asked?: AskedMethods;
}

export function plan(configMaps: ConfigMaps, change: Change = {}): Plan {
  const configuration = configurationOf(
    Object.entries(configMaps).map(([name, data]) => ({ name, data })),
    fakeRegistry(),
  );
  const secrets = change.secrets ?? SECRETS;
  return resolvePlan({
    node: { ...NODE, ...change.node },
    configuration,
    owners: new PlugIndex().update(configuration),
    secretKeys: change.withoutSecrets === true ? undefined : (name) => secrets[name],
    asked: change.asked,
  });
}

export function errors(result: Plan): PlanProblem[] {
  return result.problems.filter(({ severity }) => severity === 'error');
}

export const TEMPLATE = { 'fence-method-template-bmc': { 'template.properties': 'agent_name=redfish\nip=192.0.2.7\nsecret=bmc-login' } };

/** The seed's form: everything in the node's own ConfigMap, beside a template. */
export const SEED: ConfigMaps = {
  ...TEMPLATE,
  'fence-config-node-a': {
    'config.properties': 'node_name=node-a\nisolation=mark-unschedulable\npower_management=bmc-off bmc-on\nrecovery=mark-schedulable\n',
    'fence-method-bmc-off': 'template=fence-method-template-bmc\naction=off',
    'fence-method-bmc-on': 'template=fence-method-template-bmc\naction=on',
  },
};

export function seedWith(properties: string, more: Readonly<Record<string, string>> = {}): ConfigMaps {
  const seed = SEED['fence-config-node-a'] ?? {};
  return { ...SEED, 'fence-config-node-a': { ...seed, 'config.properties': `${seed['config.properties'] ?? ''}${properties}`, ...more } };
}
