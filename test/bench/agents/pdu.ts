import { PduDevice } from '../../../src/testbed/devices/snmp/pdu-device.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { powerAgent, targetOf } from './client.ts';
import type { Peer } from './peer.ts';
import { compared, peerWay, realWay, warmWay } from './single.ts';
import type { Way } from './single.ts';

const COMMUNITY = 'private';
/** rPDUOutletControlOutletCommand and rPDUOutletStatusOutletState of outlet 1. */
const COMMAND = '1.3.6.1.4.1.318.1.1.12.3.3.1.1.4.1';
const STATE = '1.3.6.1.4.1.318.1.1.12.3.5.1.1.4.1';

function toolPeer(command: string, port: number, ...words: string[]): Peer {
  return { command, args: ['-v', '2c', '-c', COMMUNITY, '-On', `127.0.0.1:${port}`, ...words] };
}

function fencePeer(port: number, action: string): Peer {
  const words = ['--ip=127.0.0.1', `--ipport=${port}`, '--snmp-version=2c', `--community=${COMMUNITY}`, '--plug=1', '--power-wait=0'];
  return { command: 'fence_apc_snmp', args: [...words, `--action=${action}`] };
}

/** An outlet off and read back: ours beside the processes of Net-SNMP and fence_apc_snmp. The PDU answers in this very process. */
export async function measurePdu(): Promise<Way[]> {
  const device = await PduDevice.start({ kind: 'apc-rpdu', clock: new SystemClock(), outlets: [{ number: 1 }], writeCommunity: COMMUNITY });
  const agent = await powerAgent('pdu');
  const { port } = device;
  const parameters = { ip: '127.0.0.1', ipport: String(port), snmp_version: '2c', community: COMMUNITY };
  const target = targetOf(parameters, '1', { node: 'a' });
  const unit = 'snmpset, then snmpget';
  try {
    const ways = [
      await peerWay(
        unit,
        [toolPeer('snmpset', port, COMMAND, 'i', '2'), toolPeer('snmpget', port, STATE)],
        [toolPeer('snmpset', port, COMMAND, 'i', '1')],
      ),
      await peerWay('fence_apc_snmp --power-wait=0', [fencePeer(port, 'off')], [fencePeer(port, 'on')]),
      await warmWay('ours, warm: set + read', agent, target),
      await realWay('ours as a fence does it (off_stable 3 s)', 'pdu', target),
    ];
    return compared(ways, unit);
  } finally {
    await agent.close?.();
    await device.close();
  }
}
