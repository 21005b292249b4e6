import { SnmpDevice } from '../../src/testbed/devices/snmp/snmp-device.ts';
import { Tree } from '../../src/testbed/devices/snmp/tree.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import type { DeviceFixture } from './fault-profile.ts';

const clock = new SystemClock();
const COMMUNITY = 'a community that writes';
const PORT = 'Ethernet7';
const IF_TABLE = '1.3.6.1.2.1.2.2.1';
const IF_X_TABLE = '1.3.6.1.2.1.31.1.1.1';
/** So long does it show every port closed while it starts. */
const STARTS_FOR_MS = 60_000;
const [UP, DOWN] = [1, 2];

/** A switch with an IF-MIB that restarts when a port is closed, which it forgets: its ports show closed until it has read what is saved, while traffic flows. */
export async function spawnRestartingSwitch(isOpen: boolean): Promise<DeviceFixture> {
  const commands: { plug: string; wanted: 'on' | 'off' | 'other' }[] = [];
  let isUp = isOpen;
  let startedAtMs = clock.monotonicMs() - 3_600_000;
  const shown = (): { integer: number } => ({ integer: isUp && clock.monotonicMs() - startedAtMs >= STARTS_FOR_MS ? UP : DOWN });
  const tree = new Tree();
  tree.put('1.3.6.1.2.1.1.3.0', { read: () => ({ integer: Math.floor((clock.monotonicMs() - startedAtMs) / 10) }) });
  tree.put(`${IF_TABLE}.2.7`, { read: () => ({ text: PORT }) });
  tree.put(`${IF_TABLE}.7.7`, {
    read: shown,
    set: (value) => {
      commands.push({ plug: PORT, wanted: value === UP ? 'on' : 'off' });
      if (value === UP) isUp = true;
      else startedAtMs = clock.monotonicMs();
      return 0;
    },
  });
  tree.put(`${IF_TABLE}.8.7`, { read: shown });
  tree.put(`${IF_X_TABLE}.1.7`, { read: () => ({ text: PORT }) });
  tree.put(`${IF_X_TABLE}.18.7`, { read: () => ({ text: 'worker-1 uplink' }) });
  const device = await SnmpDevice.start({ tree, clock, writeCommunity: COMMUNITY });
  return {
    parameters: { ip: '127.0.0.1', ipport: String(device.port), transport: 'snmp', community: COMMUNITY, port_alias: '{node}' },
    plugs: [PORT],
    identity: { node: 'worker-1' },
    flows: () => isUp,
    commands: () => commands,
    leftOpen: () => ({ sessions: 0, connections: 0, processes: 0 }),
    close: () => device.close(),
  };
}
