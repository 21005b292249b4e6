import { SwitchPorts } from '../../src/testbed/devices/ssh/switch-ports.ts';
import { startSwitchServer } from '../../src/testbed/devices/ssh/switch-server.ts';
import type { CliKind } from '../../src/testbed/devices/ssh/command-line.ts';
import type { Parameters } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { switchFaultsOf } from './switch-faults.ts';

const clock = new SystemClock();
const PASSWORD = 'correct horse battery';

/** What failures of a switch over SSH say. */
export const SWITCH_WORDS = {
  'accepts-and-lies': /not off within|not on within|line protocol is|Physical link|Online|No_Light/u,
  refuses: /denied|authorization failed/iu,
  'wrong-credentials': /refuses password of this account/u,
  'wrong-certificate': /not trusted: its ssh-ed25519 host key is SHA256:/u,
  unreachable: /ECONNREFUSED/u,
  'hangs-mid-answer': /no (?:complete )?answer within/u,
  garbage: /not a port at all|no state of|not in switchshow/u,
  truncated: /closed the session|state unknown|no complete answer|not in switchshow/u,
  'state-unknown': /sideways|Sideways|Dancing/u,
  'state-null': /no state of|not in switchshow/u,
  'state-pending': /administratively down|Administratively down|Disabled/u,
  'flips-back-on': /is up|is Up|Online/u,
  'wrong-machine': /worker-9 uplink/u,
  'session-limit': /opens no session/u,
  'rate-limited': /Too many logins/u,
  'one-plug-stuck': /method-2: (?:Ethernet8 is|port 8) /u,
  'late-after-deadline': /no (?:complete )?answer within|not off within|not on within/u,
} as const;

/** One switch on loopback, with a command line over SSH. */
export async function spawnSwitch(
  behaviour: Behaviour,
  isOn: boolean,
  kind: CliKind,
  names: readonly [string, string],
  own: Parameters,
): Promise<DeviceFixture> {
  const plugs = behaviour === 'one-plug-stuck' ? names : names.slice(0, 1);
  const ports = new SwitchPorts(
    clock,
    names.map((name) => ({ name, description: 'worker-1 uplink', isOpen: isOn })),
    switchFaultsOf(behaviour, plugs),
  );
  const server = await startSwitchServer({ clock, ports, kind, username: 'fence', password: PASSWORD });
  if (behaviour === 'unreachable') await server.close();
  const trust: Parameters =
    behaviour === 'wrong-certificate' ? { host_key_fingerprint: `SHA256:${'A'.repeat(43)}` } : { known_hosts: server.knownHosts };
  return {
    parameters: {
      ip: '127.0.0.1',
      ipport: String(server.port),
      username: 'fence',
      password: behaviour === 'wrong-credentials' ? 'not the password' : PASSWORD,
      port_alias: '{node}',
      ...trust,
      ...own,
    },
    plugs,
    identity: { node: 'worker-1' },
    flows: (plug) => ports.flows(plug),
    commands: () => ports.commands,
    leftOpen: () => ({ sessions: server.sessions(), connections: server.connections(), processes: 0 }),
    close: () => (behaviour === 'unreachable' ? Promise.resolve() : server.close()),
  };
}
