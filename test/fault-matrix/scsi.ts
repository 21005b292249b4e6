import { scsi } from '../../agents/scsi/definition.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { Node } from '../../src/ports/objects.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import { DEVICE, HOST_BOOT_ID, startScsiHost, VICTIM } from './scsi-host.ts';

const PASSWORD = 'correct horse battery';
const clock = new SystemClock();

function clusterOf(bootID: string): Cluster {
  const node = { metadata: { name: 'worker-1' }, spec: {}, status: { nodeInfo: { bootID }, addresses: [] } } as unknown as Node;
  return { get: () => Promise.resolve(node) } as unknown as Cluster;
}

testFaultProfile({
  agent: scsi,
  cannot: {
    restarts: 'a key is gone where the device has forgotten it, and nobody writes without one',
    'state-pending': 'a key is registered or it is not',
    'one-plug-stuck': 'a method has one key and no plugs; it is closed only when the key is gone from every device',
  },
  words: {
    'accepts-and-lies': /2 key\(s\), the node's among them/u,
    refuses: /unable to preempt: Permission denied/u,
    'wrong-credentials': /refuses password of this account/u,
    'wrong-certificate': /not trusted: its ssh-ed25519 host key is SHA256:/u,
    unreachable: /ECONNREFUSED/u,
    'hangs-mid-answer': /no (?:complete )?answer within/u,
    garbage: /the list of keys is not whole/u,
    truncated: /closed the connection|ECONNRESET|EPIPE/u,
    'state-unknown': /the list of keys is not whole/u,
    'state-null': /the list of keys is not whole/u,
    'flips-back-on': /2 key\(s\), the node's among them/u,
    'wrong-machine': /is node worker-1 itself, by its boot ID/u,
    'session-limit': /opens no session/u,
    'rate-limited': /Too many logins/u,
    'late-after-deadline': /no (?:complete )?answer within|the node's among them/u,
  },
  async spawn(behaviour, isOn) {
    const host = await startScsiHost(clock, behaviour, isOn, PASSWORD);
    if (behaviour === 'unreachable') await host.close();
    return {
      parameters: {
        ip: '127.0.0.1',
        ipport: String(host.port),
        username: 'root',
        password: behaviour === 'wrong-credentials' ? 'not the password' : PASSWORD,
        ...(behaviour === 'wrong-certificate' ? { host_key_fingerprint: `SHA256:${'A'.repeat(43)}` } : { known_hosts: host.knownHosts }),
        devices: DEVICE,
        key: VICTIM,
      },
      plugs: [''],
      identity: { node: 'worker-1' },
      context: { cluster: clusterOf(behaviour === 'wrong-machine' ? HOST_BOOT_ID : '22222222-2222-4222-8222-222222222222') },
      flows: () => host.isRegistered(),
      commands: () => Array.from({ length: host.told() }, () => ({ plug: '', wanted: 'off' as const })),
      leftOpen: () => ({ sessions: host.sessions(), connections: host.connections(), processes: 0 }),
      close: () => (behaviour === 'unreachable' ? Promise.resolve() : host.close()),
    };
  },
});
