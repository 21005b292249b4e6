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

  it('is no trust by itself: an agent that is given the word refuses', async () => {
    const definition = registry.find('redfish');
    const agent = await definition?.create({ clock: { monotonicMs: () => 0, after: () => () => undefined } as never, cluster: {} as never });
    if (agent?.kind !== 'power') throw new Error('no power agent');
    const parameters = { ip: '192.0.2.7', trust_on_first_use: 'yes', ...LOGIN };
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

  it.each(['no', 'maybe'])('is not asked for by %s', (word) => {
    expect(registry.find('redfish')?.firstTrust?.({ ip: '192.0.2.7', trust_on_first_use: word })).toBeUndefined();
  });
});
