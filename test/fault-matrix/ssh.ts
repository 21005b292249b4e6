import { ssh } from '../../agents/ssh/definition.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import { startSshMachine } from './ssh-machine.ts';

const PASSWORD = 'correct horse battery';
const clock = new SystemClock();

testFaultProfile({
  agent: ssh,
  cannot: {
    restarts: 'what a command is about is known to nobody but its author',
    'wrong-machine': 'a command runs on whatever machine has the host key; the key is the identity',
    'one-plug-stuck': 'a machine has no plugs',
    'state-pending': 'what a command is about is known to nobody but its author',
    garbage: 'what a command prints is known to nobody but its author; anything but the expected line is not done',
    'state-unknown': 'what a command prints is known to nobody but its author; anything but the expected line is not done',
    'state-null': 'a command that prints nothing is not done, where a line is expected',
    'flips-back-on': 'the agent proves nothing, and says so; confirm is asked again by the core',
  },
  words: {
    'accepts-and-lies': /confirm_command says it is not done: code 3: inactive/u,
    refuses: /code 1: Failed to restart kubelet\.service: Access denied/u,
    'wrong-credentials': /refuses password of this account/u,
    'wrong-certificate': /not trusted: its ssh-ed25519 host key is SHA256:/u,
    unreachable: /ECONNREFUSED/u,
    'hangs-mid-answer': /no (?:complete )?answer within/u,
    truncated: /closed the connection|ECONNRESET|EPIPE/u,
    'session-limit': /opens no session/u,
    'rate-limited': /Too many logins/u,
    'late-after-deadline': /no (?:complete )?answer within/u,
  },
  async spawn(behaviour, isOn) {
    const machine = await startSshMachine(clock, behaviour, isOn, PASSWORD);
    if (behaviour === 'unreachable') await machine.close();
    return {
      parameters: {
        ip: '127.0.0.1',
        ipport: String(machine.port),
        username: 'fence',
        password: behaviour === 'wrong-credentials' ? 'not the password' : PASSWORD,
        ...(behaviour === 'wrong-certificate' ? { host_key_fingerprint: `SHA256:${'A'.repeat(43)}` } : { known_hosts: machine.knownHosts }),
        command: 'systemctl stop kubelet',
        confirm_command: 'systemctl is-active kubelet',
        confirm_output: 'stopped',
      },
      plugs: [''],
      identity: { node: 'worker-1' },
      flows: () => machine.isRunning(),
      commands: () => machine.commands,
      leftOpen: () => ({ sessions: machine.sessions(), connections: machine.connections(), processes: 0 }),
      close: () => (behaviour === 'unreachable' ? Promise.resolve() : machine.close()),
    };
  },
});
