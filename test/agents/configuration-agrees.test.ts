import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { resolveParameters } from '../../src/config/resolve-parameters.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import type { Plan, PlanMethod } from '../../src/domain/plan.ts';
import { AgentError } from '../../src/ports/agents.ts';
import type { AgentContext, AgentDefinition, Target } from '../../src/ports/agents.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';

/** Agents whose first step is a device; those that run a program of the admin's need that program. */
const AGENTS = ['redfish', 'ipmi', 'pdu', 'ethernet-switch', 'fc-switch', 'kubevirt'] as const;
const registry = standardRegistry();
const clock = new SystemClock();
const unreachable = (): Promise<never> => Promise.reject(new TransportError('unreachable', 'no API server in this test'));
const CONTEXT: AgentContext = {
  clock,
  namespace: 'nodefence-system',
  cluster: {
    get: unreachable,
    list: unreachable,
    create: unreachable,
    replace: unreachable,
    replaceStatus: unreachable,
    mergePatch: unreachable,
    remove: unreachable,
    evict: unreachable,
  },
};
const NODE = {
  name: 'a',
  systemUUID: '4c4c4544-0042-4810-8054-b4c04f573433',
  labels: {},
  annotations: {},
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
};
/** Nothing listens on port 9 of this machine: a call that passes every check ends as Unreachable or Timeout. */
const COMMON: Readonly<Record<string, string>> = { ip: '127.0.0.1', ipport: '9', username: 'u', password: 'p', namespace: 'tenants', vm: 'a' };
const VALUES = ['true', 'false', '1', '3', 'outlet', 'system', 'snmp', 'ssh', 'rest', 'nxapi', 'v3', '2c', 'apc', 'a', '0/7', 'SHA', 'AES', '5s'];
const PLUGS = ['', '3', '0/7', 'fc1/7', 'eth0', 'A 1', 'x,y'];

interface Written {
  agent: string;
  lines: readonly string[];
  identity: 'verified' | 'unverified';
}

/** A method over the agent's own table of parameters (but a kubeconfig, which belongs into a Secret, unseen by validate, and what waits for a probe's record), some of them left out, misspelt with dashes, or with values of others. */
const written: fc.Arbitrary<Written> = fc.constantFrom(...AGENTS).chain((agent) => {
  const names =
    registry
      .find(agent)
      ?.describe()
      .map(({ name }) => name)
      .filter((name) => name !== 'kubeconfig' && name !== 'trust_on_first_use') ?? [];
  const parameter = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...VALUES));
  const given = fc.subarray(
    Object.keys(COMMON).filter((name) => names.includes(name)),
    { minLength: 1 },
  );
  return fc.record({
    agent: fc.constant(agent),
    identity: fc.constantFrom('verified' as const, 'unverified' as const),
    lines: fc
      .tuple(given, fc.array(parameter, { maxLength: 3 }), fc.constantFrom(...PLUGS))
      .map(([common, extra, plug]) => [
        ...extra.map(([name, value]) => `${name.replaceAll('_', '-')}=${value}`),
        ...common.map((name) => `${name}=${COMMON[name] ?? ''}`),
        ...(plug === '' ? [] : [`plug=${plug}`]),
      ]),
  });
});

function planOf({ agent, lines, identity }: Written): { plan: Plan; configuration: ReturnType<typeof configurationOf> } {
  const body = [`agent_name=${agent}`, 'action=off', 'storage=s', ...lines].join('\n');
  const step = registry.find(agent)?.kind === 'fabric' ? 'isolation' : 'power_management';
  const data = { 'config.properties': `node_name=a\n${step}=off\nidentity=${identity}\nsupplies=1`, 'fence-method-off': body };
  const configuration = configurationOf([{ name: 'fence-config-a', data }], registry);
  return { plan: resolvePlan({ node: NODE, configuration, secretKeys: () => undefined }), configuration };
}

/** What a fence does before it can know anything of the device. `undefined`: the configuration is refused by nobody. */
async function refusal(
  definition: AgentDefinition,
  plan: Plan,
  method: PlanMethod,
  configuration: ReturnType<typeof configurationOf>,
): Promise<string | undefined> {
  const identity = { node: 'a', systemUUID: NODE.systemUUID };
  if (method.kind === 'power' && plan.identity === 'verified' && (await isAnonymous(method))) return 'it never shows whose machine it switches';
  const agent = await definition.create(CONTEXT);
  const giveUp = new AbortController();
  try {
    const parameters = resolveParameters({ node: 'a', method, configuration, secret: undefined });
    const target: Target = {
      plug: method.plug,
      device: method.device,
      parameters,
      identity,
      signal: giveUp.signal,
      deadlineMs: 150,
      beforeSend: () => undefined,
    };
    if (agent.kind !== 'action') await agent.read(target);
  } catch (error) {
    if (error instanceof AgentError && error.kind === 'Misconfigured') return error.message;
  } finally {
    giveUp.abort(new Error('the look is over'));
    await agent.close?.();
  }
  return undefined;
}

/** By what the parameters mean, told here once more: the judge does not ask the definition. */
function isAnonymous({ agent, parameters }: PlanMethod): Promise<boolean> {
  return Promise.resolve(
    (agent === 'pdu' && parameters['outlet_name'] === undefined) || (agent === 'redfish' && parameters['resource'] === 'outlet'),
  );
}

describe('validate and the fence agree', () => {
  it('what validate calls ok is never refused for its configuration', { timeout: 180_000 }, async () => {
    let sound = 0;
    await fc.assert(
      fc.asyncProperty(written, async (given) => {
        const { plan, configuration } = planOf(given);
        const isSound = plan.problems.every(({ severity }) => severity !== 'error');
        const methods = [...plan.isolation, ...plan.powerManagement].flatMap((level) => level.methods);
        for (const method of isSound ? methods : []) {
          const definition = registry.find(method.agent);
          if (definition === undefined) throw new Error(`no agent ${method.agent}`);
          sound += 1;
          expect(await refusal(definition, plan, method, configuration), given.lines.join(' ')).toBeUndefined();
        }
      }),
      { numRuns: 300, seed: 4_217 },
    );
    expect(sound).toBeGreaterThan(10);
  });
});
