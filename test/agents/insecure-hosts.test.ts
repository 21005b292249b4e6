import { expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';

const METHODS: Readonly<Record<string, string>> = {
  ssh: 'agent_name=ssh\ncommand=systemctl restart kubelet\nconfirm_command=true\naction=run',
  'ethernet-switch': 'agent_name=ethernet-switch\ntransport=ssh\ndialect=eos\nplug=Ethernet7\naction=off',
  'fc-switch': 'agent_name=fc-switch\ntransport=ssh\nplug=7\naction=off',
  storage: 'agent_name=nfs\nclose_command=c\nstate_command=s\nclosed_match=x\nopen_match=y\nstorage=filer\nstorage_match=nfs:192.0.2.40\naction=off',
  scsi: 'agent_name=scsi\ndevices=/dev/sda\nkey=0x1\nstorage=san\nstorage_match=class:san\naction=off',
};

/** What a plan says of the host keys that this method trusts. */
function said(method: string, trust: string): string[] {
  const data = { 'config.properties': 'isolation=m\npower_management=', 'fence-method-m': `${method}\nip=192.0.2.40\nsecret=login\n${trust}` };
  const configuration = configurationOf([{ name: 'fence-config-worker-1', data }], standardRegistry());
  const node = { name: 'worker-1', labels: {}, annotations: {}, addresses: [] };
  const { problems } = resolvePlan({ node, configuration, secretKeys: () => ['username', 'password'] });
  return problems.flatMap(({ severity, where, message }) => (/known_hosts|host_key/u.test(message) ? [`${severity} ${where}: ${message}`] : []));
}

it.each(Object.keys(METHODS))('%s warns of a host that anybody may be, with its place, and refuses nothing for it', (agent) => {
  const method = METHODS[agent] ?? '';
  expect(said(method, 'known_hosts=insecure')).toEqual([
    expect.stringMatching(/^warning ConfigMap fence-config-worker-1, key fence-method-m, line \d+: known_hosts insecure believes any host/u),
  ]);
  expect(said(method, `host_key_fingerprint=SHA256:${'A'.repeat(43)}`)).toEqual([]);
});
