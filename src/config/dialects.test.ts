import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../domain/plan.ts';
import { configurationOf } from './configuration.ts';
import { decoded } from './manifests/decode.ts';
import { Manifests } from './manifests/manifests.ts';
import { namedOnly } from './node-facts.ts';
import { resolveParameters } from './resolve-parameters.ts';
import { resolvePlan } from './resolve-plan.ts';
import { fakeRegistry } from './testing/fake-agents.ts';
import { errors, plan, seedWith } from './testing/plans.ts';

function layout(name: string) {
  const path = `fixtures/dialects/${name}.yaml`;
  const manifests = new Manifests([{ path, text: readFileSync(new URL(path, import.meta.url), 'utf8') }], 'default');
  expect(manifests.problems).toEqual([]);
  const configuration = configurationOf(
    manifests.configMaps.map(({ metadata, data = {} }) => ({ name: metadata.name, data })),
    fakeRegistry(),
  );
  const secrets = new Map(manifests.secrets.map((secret) => [secret.metadata.name, decoded(secret)]));
  const secretKeys = (secret: string): string[] | undefined => {
    const found = secrets.get(secret);
    return found === undefined ? undefined : Object.keys(found);
  };
  return { configuration, secrets, plan: resolvePlan({ node: namedOnly('node-a'), configuration, secretKeys }) };
}

/** `off pdu 192.0.2.25 1` for every method of every step. */
function uses(resolved: Plan): string[][] {
  return [resolved.isolation, resolved.powerManagement, resolved.recovery].map((levels) =>
    levels.flatMap(({ methods }) =>
      methods.map(({ action, agent, device, plug }) => [action, agent, device, plug].filter((word) => word !== '').join(' ')),
    ),
  );
}

describe('whole layouts of the original are read unchanged', () => {
  it('L1, November 2017: full names of ConfigMaps, commas, ipaddr and port', () => {
    const { plan: resolved } = layout('l1-2017-11');
    expect(errors(resolved)).toEqual([]);
    expect(uses(resolved)).toEqual([['off fc-switch 192.0.2.20 2'], ['off pdu 192.0.2.21 1', 'on pdu 192.0.2.21 1'], ['on fc-switch 192.0.2.20 2']]);
  });

  it('L2, January 2018: a ConfigMap per method and node, scripts that are agents here, seconds without a unit', () => {
    const { plan: resolved } = layout('l2-2018-01');
    expect(errors(resolved)).toEqual([]);
    expect(uses(resolved)).toEqual([['run cordon'], ['off pdu 192.0.2.22 1', 'on pdu 192.0.2.22 1'], ['run uncordon']]);
    expect(resolved).toMatchObject({ timing: { isolationDelayMs: 7_000 }, stepRetries: 2 });
    expect(resolved.problems.map(({ message }) => message)).toContain('should be called template.properties');
  });

  it('L3, June 2018: dashes, long options, comments after a value, the Secret of the method; the release stands for clean-pods', () => {
    const { plan: resolved, configuration, secrets } = layout('l3-2018-06');
    expect(errors(resolved)).toEqual([]);
    expect(uses(resolved)).toEqual([['run cordon'], ['off redfish 192.0.2.23', 'on redfish 192.0.2.23'], ['run uncordon']]);
    const [method] = resolved.powerManagement[0]?.methods ?? [];
    expect(method?.parameters).toEqual({ ip: '192.0.2.23', ssl_insecure: 'OFF', systems_uri: '/redfish/v1/Systems/1' });
    const parameters = resolveParameters({
      node: 'node-a',
      method: method!,
      configuration,
      secret: secrets.get('secret-fence-method-bmc-off-node-a'),
    });
    expect(parameters).toMatchObject({ username: 'admin', password: 'hunter2' });
    expect(resolved.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('clean-pods is left out: the workload is let go by release='),
    ]);
  });

  it('L4, the seed: methods inline', () => {
    const { plan: resolved } = layout('l4-seed');
    expect(errors(resolved)).toEqual([]);
    expect(uses(resolved)).toEqual([['off fc-switch 192.0.2.24 2'], ['off pdu 192.0.2.25 1', 'on pdu 192.0.2.25 1'], ['on fc-switch 192.0.2.24 2']]);
    expect(JSON.stringify(resolved)).not.toContain('public');
  });
});

describe('slips and older words of the original', () => {
  const timing = (properties: string): Plan['timing'] => plan(seedWith(properties)).timing;
  it.each<[what: string, found: () => unknown, expected: unknown]>([
    ['grace_timeout in bare seconds is isolation_delay', () => timing('grace_timeout=9').isolationDelayMs, 9_000],
    ['giveup_retries is step_retries', () => plan(seedWith('giveup_retries=1')).stepRetries, 1],
    ['power_managment', () => uses(plan(seedWith('power_managment=bmc-on')))[1], ['on redfish 192.0.2.7']],
    ['power-management', () => uses(plan(seedWith('power-management=bmc-on')))[1], ['on redfish 192.0.2.7']],
    ['recover is recovery', () => uses(plan(seedWith('recover=')))[2], []],
    ['mark-unschedulable in recovery', () => uses(plan(seedWith('recovery=mark-unschedulable')))[2], ['run uncordon']],
    [
      'two blanks and a comma name nothing',
      () => uses(plan(seedWith('power_management= bmc-off ,  bmc-on,')))[1],
      ['off redfish 192.0.2.7', 'on redfish 192.0.2.7'],
    ],
    ['a step that is listed by its data key', () => uses(plan(seedWith('power_management=fence-method-bmc-on')))[1], ['on redfish 192.0.2.7']],
    ['an empty step is nothing', () => plan(seedWith('isolation=')).isolation, []],
  ])('%s', (_what, found, expected) => {
    expect(found()).toEqual(expected);
  });

  it('a key that is written twice is warned of, and the last counts', () => {
    const result = plan(seedWith('settle=20s\nsettle=30s'));
    expect(result.timing.settleMs).toBe(30_000);
    expect(result.problems).toContainEqual(expect.objectContaining({ severity: 'warning', message: 'duplicate key settle: replaces line 5' }));
  });

  it.each(['fence_eaton_ssh', 'fence-gcloud', 'ssh', 'fence_ipmilan'])('agent %s is refused in words', (agent) => {
    const result = plan(seedWith('', { 'fence-method-bmc-off': `agent_name=${agent}\naction=off` }));
    expect(errors(result)[0]).toMatchObject({
      step: 'power-management',
      message: expect.stringMatching(/not part of this version|unknown agent/) as string,
    });
  });
});
