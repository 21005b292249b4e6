import { randomUUID } from 'node:crypto';
import { standardRegistry } from '../../../agents/registry.ts';
import { CLOUD_KINDS } from '../../testbed/devices/cloud/kinds.ts';
import type { CloudName } from '../../testbed/devices/cloud/kinds.ts';
import { WORLD } from '../faults/names.ts';
import type { Member, MemberSite } from './members.ts';
import { drillProgram } from './process-host.ts';
import type { Machine } from './setting.ts';

const HOST = '127.0.0.1';

/** A cloud whose machines run. */
export interface StartedCloud {
  members: readonly Member[];
  /** Environment of the controllers: where the cloud is, and who they are to it. */
  environment: Readonly<Record<string, string>>;
  /** Keys of `fence-cluster-config` that this cloud cannot do without. */
  settings: Readonly<Record<string, string>>;
}

interface CloudReady {
  variables: Record<string, string>;
  files: Record<string, string>;
  settings: Record<string, string>;
}

/** The machines of a drill as instances of a cloud, each known to its kubelet by a providerID and an address. */
export async function inCloud(cloud: CloudName, machines: readonly Machine[]): Promise<Machine[]> {
  const kind = await CLOUD_KINDS[cloud]();
  return machines.map((machine, index) => {
    const systemUUID = machine.systemUUID ?? randomUUID();
    const providerID = kind.providerID({ node: machine.node, uuid: systemUUID }, index);
    return { ...machine, systemUUID, providerID, address: `10.9.0.${index + 1}` };
  });
}

/** Starts the cloud, in one process with all its machines. */
export async function startCloud(
  cloud: CloudName,
  machines: readonly Machine[],
  { processes, accessOf }: Pick<MemberSite, 'processes'> & { accessOf: (node: string) => MemberSite['access'] },
): Promise<StartedCloud> {
  const { folder } = processes;
  const definition = standardRegistry().find(cloud);
  const described = machines.map(({ node, systemUUID = '', providerID = '', address = '', labels }) => {
    const instance = definition?.instanceOf?.(providerID);
    if (definition === undefined || instance === undefined) throw new Error(`${cloud} has no instance ${providerID}`);
    const machineFile = folder.write(`machine-${node}.json`, {
      ...accessOf(node),
      ...{ node, systemUUID, providerID, address, labels },
      disk: folder.in('disk'),
      bootDelayMs: WORLD.bootMs,
      options: { renewMs: WORLD.kubeletRenewMs },
      trace: folder.trace(`machine-${node}`),
    });
    const machine = { command: [process.execPath, drillProgram('machine')], configuration: machineFile };
    return { node, uuid: systemUUID, address, device: definition.deviceKey(instance.parameters), plug: instance.plug, machine };
  });
  const { child, ready } = await processes.program('cloud', `cloud-${cloud}`, { cloud, host: HOST, trace: folder.trace(cloud), machines: described });
  const { variables, files, settings } = ready as unknown as CloudReady;
  const paths = Object.entries(files).map(([variable, text]): [string, string] => [variable, folder.writeText(`cloud-${variable}`, text)]);
  return {
    members: described.map(({ node }) => ({
      node,
      child: { tell: (line) => child.tell({ ...line, node }) },
      bmc: { node, host: HOST, port: 0, fingerprint: '' },
    })),
    environment: { ...variables, ...Object.fromEntries(paths) },
    settings: { ...settings, [`${cloud}.device_max_latency`]: '10s' },
  };
}

/** What processes show of themselves, without the credentials that they were given in their environment on purpose. */
export function withoutGiven(exposure: Record<string, string>, environment: Readonly<Record<string, string>>): Record<string, string> {
  const secrets = secretsIn(environment);
  const hidden = (text: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, '(given)'), text);
  return Object.fromEntries(Object.entries(exposure).map(([what, text]) => [what, what.startsWith('environment of') ? hidden(text) : text]));
}

/** What of it may stand nowhere else. */
export function secretsIn(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => (/SECRET|PASSWORD|TOKEN/.test(name) && !value.includes('/') ? [value] : []));
}
