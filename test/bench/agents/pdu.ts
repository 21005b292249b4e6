import { powerAgent, targetOf } from './client.ts';
import { startFarm } from './farm.ts';
import { barePduWay } from './pdu-floor.ts';
import type { Peer } from './peer.ts';
import { compared, LONG_WARM_UP, OURS, peerWay, realWay, warmWay } from './single.ts';
import type { Way } from './single.ts';

/** rPDUOutletControlOutletCommand and rPDUOutletStatusOutletState of outlet 1. */
const COMMAND = '1.3.6.1.4.1.318.1.1.12.3.3.1.1.4.1';
const STATE = '1.3.6.1.4.1.318.1.1.12.3.5.1.1.4.1';

type Device = Readonly<Record<'ipport' | 'community', string>>;

function toolPeer(command: string, { ipport, community }: Device, ...words: string[]): Peer {
  return { command, args: ['-v', '2c', '-c', community, '-On', `127.0.0.1:${ipport}`, ...words] };
}

function fencePeer({ ipport, community }: Device, action: string): Peer {
  const words = ['--ip=127.0.0.1', `--ipport=${ipport}`, '--snmp-version=2c', `--community=${community}`, '--plug=1', '--power-wait=0'];
  return { command: 'fence_apc_snmp', args: [...words, `--action=${action}`] };
}

/** An outlet off and read back: ours beside the processes of Net-SNMP and fence_apc_snmp. The PDU answers in a process of its own. */
export async function measurePdu(): Promise<Way[]> {
  const farm = await startFarm({ protocol: 'snmp', count: 1 });
  const agent = await powerAgent('pdu');
  const { ipport = '', community = '', ...others } = farm.devices[0] ?? {};
  const device = { ipport, community };
  const target = targetOf({ ...others, ...device }, '1', { node: 'a' });
  const unit = 'snmpset, then snmpget';
  try {
    const ways = [
      await peerWay(
        unit,
        [toolPeer('snmpset', device, COMMAND, 'i', '2'), toolPeer('snmpget', device, STATE)],
        [toolPeer('snmpset', device, COMMAND, 'i', '1')],
      ),
      await peerWay('fence_apc_snmp --power-wait=0', [fencePeer(device, 'off')], [fencePeer(device, 'on')]),
      await warmWay('ours, warm: set + read', agent, target),
      await warmWay('the same, in a process that has run for long', agent, target, LONG_WARM_UP),
      await barePduWay('its three datagrams made beforehand, no answer read', agent, target, { count: OURS, warmUp: LONG_WARM_UP }),
      await realWay('ours as a fence does it (off_stable 3 s)', 'pdu', target),
    ];
    return compared(ways, unit);
  } finally {
    await agent.close?.();
    await farm.close();
  }
}
