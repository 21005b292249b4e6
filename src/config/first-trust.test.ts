import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import type { PlanMethod } from '../domain/plan.ts';
import { configurationOf } from './configuration.ts';
import { resolveParameters } from './resolve-parameters.ts';

const registry = standardRegistry();
const ONE = 'a'.repeat(64);
const LOGIN = { username: 'root', password: 'x' };

function resolved(agent: string, parameters: Record<string, string>, trusted: { device: string; shown: string; since: string }[]) {
  const definition = registry.find(agent);
  if (definition === undefined) throw new Error(`no agent ${agent}`);
  const device = definition.deviceKey(parameters);
  const method: PlanMethod = { name: 'off', agent, kind: definition.kind, action: 'off', device, plug: '', parameters, deviceMaxLatencyMs: 1 };
  return resolveParameters({ node: 'a', method, configuration: configurationOf([], registry), secret: LOGIN, trusted });
}

const WORD = { trust_on_first_use: 'yes' };
const COMMANDS = { close_command: 'close', state_command: 'state', closed_match: 'closed', open_match: 'open' };

/** Agents that may be told the word, with what is recorded of their device under which name. */
const KNOWN: Readonly<Record<string, { parameters: Record<string, string>; device: string; parameter: string }>> = {
  redfish: { parameters: { ip: '192.0.2.7', ...WORD }, device: '192.0.2.7:443', parameter: 'ssl_fingerprint' },
  proxmox: { parameters: { endpoint: '192.0.2.7', ...WORD }, device: 'proxmox 192.0.2.7', parameter: 'ssl_fingerprint' },
  vsphere: { parameters: { ip: '192.0.2.7', ipport: '8443', ...WORD }, device: 'vsphere 192.0.2.7:8443', parameter: 'ssl_fingerprint' },
  ovirt: { parameters: { ip: '2001:db8::7', ...WORD }, device: 'ovirt [2001:db8::7]', parameter: 'ssl_fingerprint' },
  storage: { parameters: { ip: '192.0.2.7', ...COMMANDS, ...WORD }, device: '192.0.2.7:22', parameter: 'host_key_fingerprint' },
  scsi: {
    parameters: { ip: '192.0.2.7', devices: '/dev/disk/by-id/wwn-0x5000c500', key: '1', ...WORD },
    device: 'scsi 192.0.2.7:22',
    parameter: 'host_key_fingerprint',
  },
  ceph: {
    parameters: { via: 'exec', ip: '192.0.2.7', cidrs: '192.0.2.9/32', ...WORD },
    device: 'ceph exec 192.0.2.7:22 192.0.2.9/32',
    parameter: 'host_key_fingerprint',
  },
};

describe('trust_on_first_use=yes', () => {
  const since = '2026-11-26T10:00:00Z';

  it('runs with what is on record of this very device as its pin', () => {
    const parameters = { ip: '192.0.2.7', trust_on_first_use: 'yes', accept_fingerprint: 'b'.repeat(64) };
    expect(resolved('redfish', parameters, [{ device: '192.0.2.7:443', shown: ONE, since }])).toEqual({
      ip: '192.0.2.7',
      ssl_fingerprint: ONE,
      ...LOGIN,
    });
    expect(() => resolved('redfish', parameters, [{ device: '192.0.2.8:443', shown: ONE, since }])).toThrow(
      'nothing is on record of 192.0.2.7:443 yet',
    );
  });

  it('pins the host key of a switch by SSH', () => {
    const shown = `SHA256:${'A'.repeat(43)}`;
    const parameters = { ip: '192.0.2.7', transport: 'ssh', dialect: 'eos', trust_on_first_use: 'yes' };
    expect(resolved('ethernet-switch', parameters, [{ device: '192.0.2.7:22', shown, since }])).toMatchObject({ host_key_fingerprint: shown });
  });

  it.each(Object.entries(KNOWN))('runs %s with what is on record as its pin', (agent, { parameters, device, parameter }) => {
    const shown = parameter === 'ssl_fingerprint' ? ONE : `SHA256:${'A'.repeat(43)}`;
    const { trust_on_first_use: _word, ...others } = parameters;
    const pinned = { ...others, [parameter]: shown };
    expect(resolved(agent, parameters, [{ device, shown, since }])).toEqual({ ...pinned, ...LOGIN });
    expect(() => resolved(agent, parameters, [])).toThrow(`nothing is on record of ${device} yet`);
  });

  it.each(Object.entries(KNOWN))('is no trust by itself: %s refuses the word', async (name, { parameters: written }) => {
    const definition = registry.find(name);
    const agent = await definition?.create({ clock: { monotonicMs: () => 0, after: () => () => undefined } as never, cluster: {} as never });
    if (agent === undefined || agent.kind === 'action') throw new Error('nothing to read');
    const parameters = { ...written, ...LOGIN };
    const target = {
      plug: '',
      device: 'd',
      parameters,
      identity: { node: 'a' },
      signal: new AbortController().signal,
      deadlineMs: 1_000,
      beforeSend: () => undefined,
    };
    await expect(agent.read(target)).rejects.toThrow('trust_on_first_use is only for the controller');
  });

  it.each([{ ssl_fingerprint: ONE }, { ssl_insecure: 'yes' }, { ca: '-----BEGIN CERTIFICATE-----' }])(
    'contradicts other words about trust: %j',
    (other: Record<string, string>) => {
      const problems = registry.find('redfish')?.check({ ip: '192.0.2.7', trust_on_first_use: 'yes', ...LOGIN, ...other }, true);
      expect(problems?.map(({ message }) => message)).toContainEqual(expect.stringContaining('trust_on_first_use and'));
    },
  );

  it.each<[string, string, Record<string, string>, string]>([
    ['proxmox', 'several hosts', { endpoint: '192.0.2.7,192.0.2.8' }, 'needs exactly one host in endpoint'],
    ['proxmox', 'hosts that another source names', {}, 'needs exactly one host in endpoint'],
    ['vsphere', 'a host that another source names', {}, 'needs exactly one host in ip'],
    ['ovirt', 'a host that another source names', {}, 'needs exactly one host in ip'],
    ['vsphere', 'no TLS', { ip: '192.0.2.7', ssl: 'no' }, 'needs TLS'],
    ['proxmox', 'an authority beside', { endpoint: '192.0.2.7', ca: '-----BEGIN CERTIFICATE-----' }, 'and ca are both given'],
    ['ovirt', 'anybody beside', { ip: '192.0.2.7', ssl_insecure: 'yes' }, 'and ssl_insecure are both given'],
    ['storage', 'a known host beside', { ip: '192.0.2.7', ...COMMANDS, known_hosts: 'insecure' }, 'and known_hosts are both given'],
  ])('is refused by %s with %s', (agent, _what, parameters, expected) => {
    const messages = registry
      .find(agent)
      ?.check({ ...parameters, ...WORD }, false)
      .map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringContaining(expected));
  });

  it.each<[string, Record<string, string>]>([
    ['vsphere', { ip: '192.0.2.7', ssl: 'no' }],
    ['proxmox', { endpoint: '192.0.2.7,192.0.2.8' }],
    ['ovirt', {}],
    ['storage', COMMANDS],
    ['ceph', { via: 'networkfence', ip: '192.0.2.7' }],
  ])('has %s shown nothing where there is nothing to be recorded: %j', (agent, parameters) => {
    expect(registry.find(agent)?.firstTrust?.({ ...parameters, ...WORD })).toBeUndefined();
  });

  it.each(['no', 'maybe'])('is not asked for by %s', (word) => {
    expect(registry.find('redfish')?.firstTrust?.({ ip: '192.0.2.7', trust_on_first_use: word })).toBeUndefined();
  });
});
