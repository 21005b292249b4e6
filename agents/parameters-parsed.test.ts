import { afterEach, describe, expect, it, vi } from 'vitest';

import { configurationOf } from '../src/config/configuration.ts';
import type { Configuration } from '../src/config/configuration.ts';
import { resolveParameters } from '../src/config/resolve-parameters.ts';
import { resolvePlan } from '../src/config/resolve-plan.ts';
import type { PlanMethod } from '../src/domain/plan.ts';
import type { Parameters } from '../src/ports/agents.ts';
import { parseSettings as switchSettings, switchParameters } from './ethernet-switch/parameters.ts';
import { ipmiParameters, parseSettings as ipmiSettings } from './ipmi/parameters.ts';
import { parseSettings as pduSettings, pduParameters } from './pdu/parameters.ts';
import { parseSettings as redfishSettings, redfishParameters } from './redfish/parameters.ts';
import { standardRegistry } from './registry.ts';

const NODE = { name: 'a', labels: {}, annotations: {}, addresses: [] };
/** Calls of one run: a read before the set, the set, and the reads after it. */
const CALLS = 6;

function configured(agent: string, parameters: string): Configuration {
  const data = {
    'config.properties': `node_name=a\n${agent === 'ethernet-switch' ? 'isolation' : 'power_management'}=off\nidentity=unverified\n`,
    'fence-method-off': `agent_name=${agent}\naction=off\nsecret=login\n${parameters}`,
  };
  return configurationOf([{ name: 'fence-config-a', data }], standardRegistry());
}

function plannedMethod(configuration: Configuration): PlanMethod {
  const plan = resolvePlan({
    node: NODE,
    configuration,
    owners: new Map(),
    secretKeys: () => ['username', 'password'],
  });
  const method = [...plan.isolation, ...plan.powerManagement].flatMap(({ methods }) => methods).find(({ name }) => name === 'off');
  if (method === undefined) throw new Error(JSON.stringify(plan.problems));
  // As it comes back from the NodeFence.
  return structuredClone(method);
}

afterEach(() => vi.restoreAllMocks());

describe('the parameters of a method', () => {
  it.each<[agent: string, written: string, schema: { safeParse: (value: unknown) => unknown }, settingsOf: (parameters: Parameters) => object]>([
    ['redfish', 'ip=192.0.2.7', redfishParameters.schema, redfishSettings],
    ['ipmi', 'ip=192.0.2.7', ipmiParameters.schema, ipmiSettings],
    ['pdu', 'ip=192.0.2.7\nplug=3\nsnmp_version=3\nsnmp_sec_level=authNoPriv', pduParameters.schema, pduSettings],
    ['ethernet-switch', 'ip=192.0.2.7\nplug=3\nsnmp_version=3\nsnmp_sec_level=authNoPriv', switchParameters.schema, switchSettings],
  ])('of %s are parsed once for the plan and once for a run, however many calls it makes', (agent, written, schema, settingsOf) => {
    const spy = vi.spyOn(schema, 'safeParse');
    const configuration = configured(agent, written);
    const method = plannedMethod(configuration);
    expect(spy.mock.calls.length, 'for the plan').toBe(1);
    spy.mockClear();
    const parameters = resolveParameters({ node: 'a', method, configuration, secret: { username: 'fence', password: 'secret-of-a' } });
    for (let call = 0; call < CALLS; call += 1) expect(settingsOf(parameters)).not.toHaveProperty('problems');
    expect(spy.mock.calls.length, 'for the run').toBe(1);
  });
});
