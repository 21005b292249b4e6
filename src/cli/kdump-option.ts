import type { Command } from 'commander';
import { Option } from 'commander';
import type { BindAddress } from '../http/bind-address.ts';
import type { ControllerPorts } from '../manager/composition.ts';
import { UdpSocket } from '../node/shell/datagram-socket.ts';
import { bindAddress } from './bind-address-option.ts';

export interface KdumpFlags {
  kdumpAddress?: BindAddress;
}

/** Whatever comes is handed on, so that it is counted by what is wrong with it. */
const LARGEST_DATAGRAM = 65_535;

/** Off unless it is asked for: then nothing listens, and no right is needed. */
export function withKdumpOption(command: Command): Command {
  const description = 'address on which the messages of crash kernels (fence_kdump) are heard, UDP, such as :7410; default: none is heard';
  return command.addOption(new Option('--kdump-address <host:port>', description).env('NODEFENCE_KDUMP_ADDRESS').argParser(bindAddress));
}

export async function kdumpPorts({ kdumpAddress: listen }: KdumpFlags): Promise<Pick<ControllerPorts, 'kdump'>> {
  if (listen === undefined) return {};
  const socket = await UdpSocket.open({ listen, largestBytes: LARGEST_DATAGRAM });
  return {
    kdump: {
      socket: {
        receive: (handle) => socket.receive((bytes, from) => handle(bytes, hostOf(from))),
        close: () => socket.close(),
      },
    },
  };
}

/** `192.0.2.7:41234`, `[2001:db8::7%eth0]:41234`: the address alone. */
function hostOf(from: string): string {
  return from
    .slice(0, from.lastIndexOf(':'))
    .replace(/^\[(.*)\]$/u, '$1')
    .replace(/%.*$/u, '');
}
