import { standardRegistry } from '../../../agents/registry.ts';
import { configurationOf } from '../../config/configuration.ts';
import type { Configuration } from '../../config/configuration.ts';
import { PlugIndex } from '../../config/plug-index.ts';
import type { ConfigMap } from '../../ports/objects.ts';
import { EXPECTED } from '../faults/names.ts';
import type { DrillOptions } from '../run/options.ts';
import { POLICIES, policyConfigMaps } from '../run/scene-configuration.ts';
import type { DrillSetting, Machine } from '../run/setting.ts';
import { emulatedCopy, emulatedSecrets } from './copy.ts';
import { expectedOf } from './deadlines.ts';
import { readFolder } from './folder.ts';
import type { ConfigurationFolder } from './folder.ts';
import { factsOf, nodesOf } from './nodes.ts';
import type { NamedNode } from './nodes.ts';
import { addressOf, playedPlan } from './played-plan.ts';
import type { PlayedPlan } from './played-plan.ts';
import { ConfigurationRefused } from './refusal.ts';
import { withSettings } from './rewrite.ts';

/** Of an operator's cluster, where his configuration names fewer. */
const NODES = 3;

/** The operator's own ConfigMaps and Secrets, played: throws `ConfigurationRefused` with every reason before anything is started. */
export function operatorSetting(path: string, options: DrillOptions): DrillSetting {
  const folder = readFolder(path);
  const configMaps = withSettings(folder.configMaps, options.settings);
  const configuration = configurationOf(
    configMaps.map(({ metadata, data = {} }) => ({ name: metadata.name, data })),
    standardRegistry(),
  );
  const nodes = nodesOf(configuration, options.nodes ?? NODES);
  const plans = plansOf(folder, configuration, nodes, options);
  const written = plans.map(({ plan }) => plan);
  const longestMs = expectedOf(written, options.fault).deadlineMs;
  return {
    machines: nodes.map((node) => machineOf(node, plans)),
    victims: plans.map(({ node }) => node),
    says: [
      `configuration: ${folder.configMaps.length} ConfigMaps and ${folder.secrets.length} Secrets from ${path}`,
      ...folder.notes,
      ...nodes.filter(({ isConfigured }) => !isConfigured).map(({ name }) => `${name} is added, so that the workload has somewhere to go`),
      ...[...new Set(plans.flatMap(({ warnings }) => warnings))].map((warning) => `warning: ${inFile(folder, warning)}`),
      `delays as written${settingsOf(options)}; this fence may take up to ${Math.ceil(longestMs / 60_000)} min (shorten it with --set key=value)`,
    ],
    configuration: (bmcs) => {
      const byNode = new Map(bmcs.map((bmc) => [bmc.node, bmc]));
      const replaced = plans.map(({ node, methods }) => {
        const bmc = byNode.get(node);
        return `${node}: ${methods[0]?.device ?? ''} is played at ${bmc?.host ?? ''}:${bmc?.port ?? ''}; address, port and trust are replaced in a copy (fence-method-* of fence-config-${node})`;
      });
      const says = [...replaced, 'storm policies apply as written, but startup-grace is off: the drill’s controllers have just started'];
      return { configMaps: withoutStartupGrace(emulatedCopy(configMaps, plans, byNode)), secrets: emulatedSecrets(folder.secrets, plans), says };
    },
    expected: (fault) => expectedOf(written, fault),
  };
}

/** Nobody would wait for it in a drill. */
function withoutStartupGrace(configMaps: readonly ConfigMap[]): ConfigMap[] {
  const [own] = policyConfigMaps(POLICIES);
  return own === undefined ? [...configMaps] : [...configMaps.filter(({ metadata }) => metadata.name !== own.metadata.name), own];
}

function settingsOf({ settings }: DrillOptions): string {
  const set = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  return set.length === 0 ? '' : `, but ${set.join(' ')}`;
}

function machineOf({ name, labels }: NamedNode, plans: readonly PlayedPlan[]): Machine {
  const plan = plans.find(({ node }) => node === name);
  return { node: name, labels, ...(plan === undefined ? {} : { ...plan.machine, credentials: plan.credentials }) };
}

function plansOf(folder: ConfigurationFolder, configuration: Configuration, nodes: readonly NamedNode[], options: DrillOptions): PlayedPlan[] {
  const secrets = new Map(folder.secrets.map((secret) => [secret.metadata.name, secret]));
  const written = { configuration, owners: new PlugIndex().update(configuration), secrets };
  const refused: string[] = [];
  const configured = nodes.filter(({ isConfigured }) => isConfigured);
  if (configured.length === 0) refused.push('no ConfigMap fence-config-<node> says how a node is fenced');
  const plans = configured.flatMap((node) => playedPlan(factsOf(node), written, refused) ?? []);
  refused.push(...sharedDevices(plans), ...endless(plans, options));
  if (refused.length > 0) {
    throw new ConfigurationRefused(
      folder.path,
      [...new Set(refused)].map((line) => inFile(folder, line)),
    );
  }
  return plans;
}

function sharedDevices(plans: readonly PlayedPlan[]): string[] {
  const owners = new Map<string, string>();
  return plans.flatMap(({ node, methods }) => {
    const [method] = methods;
    if (method === undefined) return [];
    const owner = owners.get(method.device);
    owners.set(method.device, owner ?? node);
    return owner === undefined
      ? []
      : [`${addressOf(method)}: ${method.device} serves node ${node} and node ${owner}; the drill plays one BMC for each node`];
  });
}

/** A fence that is restarted for ever never fails. */
function endless(plans: readonly PlayedPlan[], { fault }: DrillOptions): string[] {
  if (EXPECTED[fault].outcome !== 'failed') return [];
  return plans
    .filter(({ plan }) => plan.maxRestarts < 0)
    .map(({ node }) => `ConfigMap fence-config-${node}: max_restarts=-1 never ends where the fence cannot succeed: add --set max_restarts=1`);
}

/** Puts the file before a place that begins with an object of the folder. */
function inFile({ files, path }: ConfigurationFolder, line: string): string {
  const object = /^(?:ConfigMap|Secret) [^\s,:]+/.exec(line)?.[0];
  const file = object === undefined ? undefined : files.get(object);
  return `${file ?? path}: ${line}`;
}
