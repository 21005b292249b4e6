import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { parseProperties } from '../../src/config/properties.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import { survey } from '../../src/config/survey.ts';
import type { Plan } from '../../src/domain/plan.ts';
import type { ConfigMap, Secret } from '../../src/ports/objects.ts';

const CONFIG = join(import.meta.dirname, '..', '..', 'config');
/** Each template, and the agent that switches the power in its example. */
const AGENT_OF: Readonly<Record<string, string>> = {
  gce: 'gce',
  hetzner: 'hetzner',
  aws: 'aws',
  'aws-security-group': 'aws',
  'aws-volume': 'aws',
  azure: 'azure',
  'brocade-fc-switch': 'pdu',
  'eaton-pdu': 'pdu',
  ipmi: 'ipmi',
  openstack: 'openstack',
  ovirt: 'ovirt',
  proxmox: 'proxmox',
  redfish: 'redfish',
  vsphere: 'vsphere',
};
const DEVICES = Object.keys(AGENT_OF).sort();
/** Canonical names out of the agents' own metadata (ClusterLabs/fence-agents, tests/data/metadata). */
const CLUSTERLABS: Readonly<Record<string, string>> = {
  fence_aws: 'plug region access_key secret_key filter skip_race_check skip_os_shutdown',
  fence_azure_arm: 'plug username password resourceGroup tenantId subscriptionId network_fencing msi cloud metadata_endpoint',
  fence_gce: 'plug project zone serviceaccount method apitimeout retries retrysleep plugzonemap',
  fence_openstack: 'plug username password auth_url project_name user_domain_name project_domain_name cloud openrc cacert ssl_insecure',
  fence_rhevm: 'plug ip ipport username password ssl ssl_insecure ssl_secure api_path api_version disable_http_filter use_cookies cookie_file',
  fence_pve: 'plug ip ipport username password ssl ssl_insecure ssl_secure pve_node pve_node_auto vmtype',
  fence_vmware_rest: 'plug ip ipport username password ssl ssl_insecure ssl_secure api_path filter',
};
const OF_METHODS = ['agent_name', 'template', 'secret', 'action'];

type Manifest = ConfigMap | (Secret & { stringData?: Record<string, string> });

function manifests(folder: string): { file: string; text: string; objects: Manifest[] }[] {
  const names = readdirSync(join(CONFIG, folder)).filter((file) => file.endsWith('.yaml'));
  return names.map((file) => {
    const text = readFileSync(join(CONFIG, folder, file), 'utf8');
    const read = parseAllDocuments(text).map((document) => document.toJS() as Manifest & { items?: Manifest[] });
    return { file: basename(file, '.yaml'), text, objects: read.flatMap((object) => object.items ?? [object]) };
  });
}

const templates = manifests('templates');
const examples = manifests('templates/examples');
/** Each template with its example. */
const files = templates.map(({ file, text, objects }) => ({
  file,
  text,
  objects: [...objects, ...examples.filter((example) => example.file === file).flatMap((example) => example.objects)],
}));

function configMaps(of: readonly { objects: Manifest[] }[]): { name: string; data: Record<string, string> }[] {
  return of.flatMap(({ objects }) =>
    objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata, data }) => ({ name: metadata.name, data: data ?? {} })),
  );
}

function planOf(node: string, of: readonly { objects: Manifest[] }[], labels: Record<string, string> = {}): Plan {
  const secrets = new Map(
    of.flatMap(({ objects }) => objects.filter(({ kind }) => kind === 'Secret')).map((secret) => [secret.metadata.name, secret]),
  );
  return resolvePlan({
    node: { name: node, labels, annotations: {}, addresses: [] },
    // As in the image, where no programs of ClusterLabs are.
    configuration: configurationOf(configMaps(of), standardRegistry()),
    secretKeys: (name) => {
      const secret = secrets.get(name);
      return secret === undefined || !('stringData' in secret) ? undefined : Object.keys(secret.stringData ?? {});
    },
  });
}

function agentsOf(plan: Plan): string[] {
  return plan.powerManagement.flatMap(({ methods }) => methods.map(({ agent, action }) => `${agent} ${action}`));
}

describe('the templates of config/templates', () => {
  it('are one file for each device, and an example of a node for each beside them', () => {
    expect(files.map(({ file }) => file).sort()).toEqual(DEVICES);
    expect(examples.map(({ file }) => file).sort()).toEqual(DEVICES);
  });

  it('configure no node, so that whoever applies them has no plug of theirs taken', () => {
    expect(configMaps(templates).filter(({ name }) => name.startsWith('fence-config-'))).toEqual([]);
    const own = {
      'config.properties': 'power_management=off on\nsupplies=2\nidentity=unverified',
      'fence-method-off': 'template=fence-method-template-eaton-pdu\nplug=1,2\naction=off',
      'fence-method-on': 'template=fence-method-template-eaton-pdu\nplug=1,2\naction=on',
    };
    const mine = [{ objects: [{ kind: 'ConfigMap', metadata: { name: 'fence-config-mine' }, data: own }] as Manifest[] }];
    const { plans, problems } = survey({
      configuration: configurationOf(configMaps([...templates, ...mine]), standardRegistry()),
      nodes: [{ name: 'mine', labels: {}, annotations: {}, addresses: [] }],
    });
    expect(plans[0]?.plan.powerManagement[0]?.methods).toHaveLength(4);
    expect(problems).toEqual([]);
  });

  it('serve the bare-metal example of the proposal, once it says what validate tells it lacks', () => {
    const example = (more: string): { objects: Manifest[] }[] => {
      const data = {
        'config.properties': `node_name=node-a\nisolation=fc-off\npower_management=eaton-off eaton-on\nrecovery=fc-on\n${more}`,
        'fence-method-fc-on': 'template=fence-method-template-fc-switch-brocade\nplug=2\naction=on',
        'fence-method-fc-off': 'template=fence-method-template-fc-switch-brocade\nplug=2\naction=off',
        'fence-method-eaton-on': 'template=fence-method-template-eaton-pdu\nplug=1\naction=on',
        'fence-method-eaton-off': 'template=fence-method-template-eaton-pdu\nplug=1\naction=off',
      };
      return [...templates, { objects: [{ kind: 'ConfigMap', metadata: { name: 'fence-config-node-a' }, data }] as Manifest[] }];
    };
    const told = planOf('node-a', example('')).problems.map(({ severity, message }) => `${severity}: ${message}`);
    expect(told).toContainEqual(
      expect.stringMatching(/^error: eaton-off would be refused .* write identity=unverified into the method to accept that, .*$/),
    );
    expect(told).toContainEqual(expect.stringMatching(/^warning: .* write supplies=1 if they are$/));
    expect(planOf('node-a', example('identity=unverified\nsupplies=1')).problems).toEqual([]);
  });

  it.each(files.map((each) => [each.file, each] as const))(
    '%s: its example is a plan without any problem, with an off before the on',
    (device, { text }) => {
      const plan = planOf(`example-${device}`, files);
      expect(plan.problems).toEqual([]);
      expect(plan.source).toBe('node');
      const agents = agentsOf(plan);
      const half = agents.length / 2;
      expect(new Set(agents.slice(0, half))).toEqual(new Set([`${AGENT_OF[device] ?? ''} off`]));
      expect(new Set(agents.slice(half))).toEqual(new Set([`${AGENT_OF[device] ?? ''} on`]));
      expect(plan.isolation.flatMap(({ methods }) => methods)).not.toHaveLength(0);
      expect(plan.recovery.flatMap(({ methods }) => methods)).not.toHaveLength(0);
      expect(text).not.toContain('not part of this version');
    },
  );

  it.each(files.flatMap(({ file, text }) => (/^ +agent_name=(fence_\w+)$/m.exec(text) ?? []).slice(1).map((agent) => [file, agent] as const)))(
    "%s: writes the parameters as %s's own metadata names them",
    (device, agent) => {
      const file = files.filter((each) => each.file === device);
      const own = configMaps(file).flatMap(({ data }) => Object.entries(data));
      const [template = ''] = own.flatMap(([key, text]) => (key === 'template.properties' ? [text] : []));
      const reference = `template=${configMaps(file).find(({ data }) => 'template.properties' in data)?.name ?? ''}`;
      const methods = own.filter(([key, text]) => key.startsWith('fence-method-') && text.includes(reference)).map(([, text]) => text);
      expect(methods).toHaveLength(2);
      const written = [template, ...methods].flatMap((text) => parseProperties(text).entries.map(({ key }) => key));
      const secret = file[0]?.objects.find(({ kind }) => kind === 'Secret');
      const inSecret = secret !== undefined && 'stringData' in secret ? Object.keys(secret.stringData ?? {}) : [];
      const known = [...(CLUSTERLABS[agent] ?? '').split(' '), ...OF_METHODS];
      expect([...written, ...inSecret].filter((key) => !known.includes(key))).toEqual([]);
    },
  );

  it('keep placeholders in Secrets, and none of their values in a ConfigMap', () => {
    for (const { objects } of files) {
      const secret = objects.find(({ kind }) => kind === 'Secret');
      const values = secret !== undefined && 'stringData' in secret ? Object.entries(secret.stringData ?? {}) : [];
      expect(values.length).toBeGreaterThan(0);
      expect(values.some(([, value]) => value === 'change-me')).toBe(true);
      expect(JSON.stringify(configMaps([{ objects }]))).not.toContain('change-me');
    }
  });

  it('stand in the namespace that the controller reads, each under a name of its own', () => {
    const all = files.flatMap(({ objects }) => objects);
    expect(new Set(all.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['nodefence-system']));
    const names = all.map(({ kind, metadata }) => `${kind ?? ''} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the samples of config/samples', () => {
  const samples = manifests('samples');

  it('are a cluster of two nodes of their own and a group, without any problem', () => {
    expect(agentsOf(planOf('node-a', samples))).toEqual(['redfish off', 'redfish on']);
    expect(agentsOf(planOf('node-b', samples))).toEqual(['redfish off', 'redfish on']);
    const labels = { 'example.com/rack': 'storage' };
    expect(planOf('worker-1', samples, labels)).toMatchObject({ source: 'group', problems: [] });
    for (const node of ['node-a', 'node-b']) expect(planOf(node, samples)).toMatchObject({ source: 'node', problems: [] });
  });
});
