import { isIP } from 'node:net';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { ZONE_LABEL } from '../domain/policies/domains.ts';
import { bindAddress } from './bind-address-option.ts';
import { parseBindAddress } from '../http/bind-address.ts';
import type { BindAddress } from '../http/bind-address.ts';
import type { ControllerPorts } from '../manager/composition.ts';
import { ownAddressTowards, UdpSocket } from '../node/shell/datagram-socket.ts';
import { X25519_KEY_PAIRS } from '../node/shell/exchange-keys.ts';

export interface NodeDaemonFlags {
  nodeDaemons?: true;
  daemonAddress: BindAddress;
  daemonTopologyKeys: readonly string[];
}

const LABEL = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;

/** Off until the daemon is complete: then nothing listens, and no right is needed. */
export function withNodeDaemonOptions(command: Command): Command {
  const option = (flags: string, variable: string, description: string): Option => new Option(flags, description).env(`NODEFENCE_${variable}`);
  return command
    .addOption(option('--node-daemons', 'NODE_DAEMONS', 'serve the daemons on nodes: hear their heartbeats, grant them to go on'))
    .addOption(
      option('--daemon-address <host:port>', 'DAEMON_ADDRESS', 'address on which node daemons are heard, UDP')
        .argParser(bindAddress)
        .default(parseBindAddress(':7411'), ':7411'),
    )
    .addOption(
      option('--daemon-topology-keys <labels>', 'DAEMON_TOPOLOGY_KEYS', 'labels by which Nodes share a failure domain, the first that a Node has')
        .argParser(labels)
        .default([ZONE_LABEL], ZONE_LABEL),
    );
}

/** `apiServer`: what the address that others reach is found by, where all addresses are listened on. */
export async function nodeDaemonPorts(flags: NodeDaemonFlags, apiServer: URL): Promise<Pick<ControllerPorts, 'nodeDaemons'>> {
  if (flags.nodeDaemons !== true) return {};
  const { host } = flags.daemonAddress;
  const isWildcard = host === '::' || host === '0.0.0.0';
  const own = isWildcard ? { address: await ownAddressTowards(hostOf(apiServer), Number(apiServer.port) || 443) } : {};
  const socket = await UdpSocket.open({ listen: flags.daemonAddress, ...own });
  return { nodeDaemons: { socket, keyPairs: X25519_KEY_PAIRS, topologyKeys: flags.daemonTopologyKeys } };
}

function hostOf({ hostname }: URL): string {
  const plain = hostname.replace(/^\[(.*)\]$/u, '$1');
  return isIP(plain) === 6 ? plain : hostname;
}

function labels(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !LABEL.test(name));
  if (wrong !== undefined) throw new InvalidArgumentError(`${JSON.stringify(wrong)} is no name of a label, such as ${ZONE_LABEL}.`);
  return names;
}
