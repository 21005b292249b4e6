import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type PowerAgent, type Target } from '../../src/ports/agents.ts';
import { azureCloud, CLIENT, GROUP, odditiesOf, SCALE_SET, SUBSCRIPTION, TENANT } from '../../src/testbed/devices/cloud/azure.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { azure } from './definition.ts';

let cloud: CloudHarness;
let agent: PowerAgent;
const others: PowerAgent[] = [];

async function agentIn(variables: Record<string, string>, files: Record<string, string> = {}): Promise<PowerAgent> {
  const created = await powerAgentIn(azure, environmentOf({ NODEFENCE_AZURE_ENDPOINT: cloud.service.url, ...variables }, files));
  others.push(created);
  return created;
}

const target = (change: Partial<Target> = {}): Target =>
  cloud.target({ ...change, parameters: { subscriptionId: SUBSCRIPTION, resourceGroup: GROUP, ...change.parameters } });

beforeEach(async () => {
  cloud = await startCloudHarness(azureCloud);
  agent = await agentIn(cloud.service.variables);
});

afterEach(async () => {
  for (const one of others.splice(0)) await one.close?.();
  await cloud.service.close();
});

describe('azure', () => {
  it('stops and starts a machine by what its providerID says, in four requests besides polls', async () => {
    expect(await agent.read(target())).toMatchObject({
      state: 'on',
      detail: 'PowerState/running; provisioningState=Succeeded',
      identity: 'verified',
    });
    const before = cloud.service.requests.length;
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
    expect(await agent.read(target())).toMatchObject({ state: 'off', identity: 'verified' });
    expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests.slice(before)).toEqual(['GET machine', 'POST powerOff', 'GET machine', 'GET machine', 'POST start']);
    expect(cloud.machines[1]?.state(), 'the other machine').toBe('on');
  });

  it.each([
    [`${SCALE_SET}/0`, {}],
    ['0', { vmss: SCALE_SET }],
  ])('switches the instance %s of a scale set', async (plug, parameters) => {
    const providerID = `azure:///subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/${SCALE_SET}/virtualMachines/0`;
    const identity = { ...target().identity, providerID };
    expect(await agent.set(target({ plug, parameters, identity }), 'off')).toMatchObject({ result: 'accepted' });
    await expect.poll(async () => (await agent.read(target({ plug, parameters, identity }))).state).toBe('off');
    expect(cloud.machines[0]?.state()).toBe('off');
  });

  it('deallocates where that is asked for', async () => {
    await agent.set(target({ parameters: { deallocate: 'yes' } }), 'off');
    expect(cloud.service.requests.at(-1)).toBe('POST deallocate');
  });

  it.each([
    ['running', 'on'],
    ['starting', 'pending'],
    ['stopping', 'pending'],
    ['deallocating', 'pending'],
    ['stopped', 'off'],
    ['deallocated', 'off'],
    ['unknown', 'unknown'],
    ['', 'unknown'],
    ['constructor', 'unknown'],
    ['absent', 'unknown'],
  ])('reads PowerState/%s as %s', async (shows, state) => {
    cloud.service.setFaults({ shows });
    expect((await agent.read(target())).state).toBe(state);
  });

  it('does not take a hibernated machine for off: resumed, it would write on', async () => {
    cloud.service.setFaults({ shows: 'deallocated' });
    Object.assign(odditiesOf(cloud.service), { statuses: ['HibernationState/Hibernated'] });
    expect(await agent.read(target())).toMatchObject({ state: 'unknown', detail: expect.stringContaining('would write on') as string });
  });

  it('does not take two power states for one', async () => {
    cloud.service.setFaults({ shows: 'stopped' });
    Object.assign(odditiesOf(cloud.service), { statuses: ['PowerState/running'] });
    expect((await agent.read(target())).state).toBe('unknown');
  });

  it('does not take a stopped machine for off while an operation is under way, which may start it', async () => {
    cloud.service.setFaults({ shows: 'stopped' });
    Object.assign(odditiesOf(cloud.service), { provisioningState: 'Updating' });
    expect((await agent.read(target())).state).toBe('pending');
  });

  it('never takes a machine that is not found for off', async () => {
    const error = await failureOf(agent.read(target({ plug: 'vm-9', identity: { node: 'a' } })));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringMatching(/ResourceNotFound.*no proof that it is off/u)]);
  });

  it('sends nothing to another machine of the same name', async () => {
    cloud.service.setFaults({ isReplaced: true });
    const error = await failureOf(agent.set(target(), 'off'));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('its UUID is ffffffff')]);
    expect(cloud.service.instances[0]?.commands).toEqual([]);
  });

  it('sends nothing to a machine that the providerID does not name', async () => {
    const error = await failureOf(agent.set(target({ plug: 'vm-1' }), 'off'));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining("the node's providerID is azure")]);
  });

  it('asks for the lease in the turn of each send, also of one that comes again after a throttle', async () => {
    cloud.service.setFaults({ failures: [{ request: 'POST powerOff', status: 429, code: 'TooManyRequests', message: 'slow down', times: 1 }] });
    let asked = 0;
    const beforeSend = (): void => {
      asked += 1;
      if (asked === 2) throw new AgentError('NotSent', { device: '', plug: '', asked: 'off', answered: 'the lease is over' });
    };
    const error = await failureOf(agent.set(target({ beforeSend }), 'off'));
    expect([error.kind, asked, cloud.machines[0]?.state()]).toEqual(['NotSent', 2, 'on']);
  });

  it('takes a new token once when the old one is not taken any more', async () => {
    await agent.read(target());
    cloud.service.setFaults({ forgetsTokens: true });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests.slice(2)).toEqual(['GET machine', 'POST token', 'GET machine', 'POST powerOff']);
  });

  it('tells in its own words that an accepted operation failed', async () => {
    cloud.service.setFaults({ failsOperation: true });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(await agent.read(target())).toMatchObject({
      state: 'on',
      detail: expect.stringContaining('the accepted powerOff ended in an error: InternalExecutionError: The host did not answer.') as string,
    });
  });

  it('takes the token to no other host, whatever the header of an operation says', async () => {
    cloud.service.setFaults({ ignoresSet: true });
    Object.assign(odditiesOf(cloud.service), { operationHost: cloud.service.url.replace('127.0.0.1', 'localhost') });
    expect(await agent.set(target(), 'off')).toMatchObject({ detail: expect.stringContaining('at another host') as string });
    await agent.read(target());
    expect(cloud.service.requests).not.toContain('GET operation');
  });

  it.each([
    [403, 'AuthorizationFailed', "does not have authorization to perform action 'Microsoft.Compute/virtualMachines/powerOff/action'"],
    [409, 'ScopeLocked', 'a lock of the resource'],
  ])('takes HTTP %d %s for a refusal', async (status, code, words) => {
    cloud.service.setFaults({ failures: [{ request: 'POST powerOff', status, code, message: words }] });
    const error = await failureOf(agent.set(target(), 'off'));
    expect([error.kind, error.message]).toEqual(['Refused', expect.stringContaining(words)]);
  });

  it.each([
    [409, 'OperationNotAllowed'],
    [500, 'InternalServerError'],
  ])('leaves it to reads what became of a set that HTTP %d %s answers', async (status, code) => {
    cloud.service.setFaults({ failures: [{ request: 'POST powerOff', status, code, message: '' }] });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'unclear', detail: expect.stringContaining(code) as string });
  });

  it('tells a probe which permission is missing', async () => {
    expect((await agent.read(target({ isProbe: true }))).wouldRefuse).toBeUndefined();
    Object.assign(odditiesOf(cloud.service), { notActions: ['microsoft.compute/*/powerOff/*'] });
    expect((await agent.read(target({ isProbe: true }))).wouldRefuse).toContain('no role allows Microsoft.Compute/virtualMachines/powerOff/action (');
    expect(cloud.service.instances[0]?.commands).toEqual([]);
  });

  it('lists the machines', async () => {
    expect(await agent.list?.(target())).toEqual([{ plug: 'vm-0' }, { plug: 'vm-1' }]);
  });

  it('holds no secret in any error', async () => {
    const secret = cloud.service.variables['AZURE_CLIENT_SECRET'] ?? 'none';
    const errors: string[] = [];
    for (const fault of [{ refusesLogin: true }, { noise: true }, { truncates: true }, { stalls: true }, { isMute: true }] as const) {
      cloud.service.setFaults(fault);
      errors.push((await failureOf(agent.read(target({ deadlineMs: 400 })))).message);
    }
    expect(errors.join('\n')).not.toContain(secret);
  });
});

describe('credentials of Azure', () => {
  const common = (): Record<string, string> => ({ AZURE_AUTHORITY_HOST: cloud.service.url, AZURE_POD_IDENTITY_AUTHORITY_HOST: cloud.service.url });
  const federated = { AZURE_TENANT_ID: TENANT, AZURE_CLIENT_ID: CLIENT, AZURE_FEDERATED_TOKEN_FILE: '/token' };

  it('are those of the parameters first', async () => {
    const password = cloud.service.variables['AZURE_CLIENT_SECRET'] ?? '';
    const own = await agentIn({ ...common(), AZURE_CLIENT_ID: 'x', AZURE_CLIENT_SECRET: 'wrong', AZURE_TENANT_ID: 'y' });
    expect(await own.read(target({ parameters: { login: CLIENT, passwd: password, tenantId: TENANT } }))).toMatchObject({ state: 'on' });
  });

  it('are those of a workload identity', async () => {
    const own = await agentIn({ ...common(), ...federated }, { '/token': 'a-service-account-token\n' });
    expect(await own.read(target())).toMatchObject({ state: 'on' });
    expect(cloud.service.requests).toEqual(['POST token', 'GET machine']);
  });

  it('are those of azure.json', async () => {
    const file = { tenantId: TENANT, aadClientId: CLIENT, aadClientSecret: cloud.service.variables['AZURE_CLIENT_SECRET'] };
    const own = await agentIn(common(), { '/etc/kubernetes/azure.json': JSON.stringify(file) });
    expect(await own.read(target())).toMatchObject({ state: 'on' });
    expect(cloud.service.requests).toEqual(['POST token', 'GET machine']);
  });

  it('are those of the managed identity', async () => {
    expect(await (await agentIn(common())).read(target())).toMatchObject({ state: 'on' });
    expect(cloud.service.requests).toEqual(['GET managed identity', 'GET machine']);
  });

  it('of the process are given to no host that the configuration names', async () => {
    for (const parameters of [{ endpoint: cloud.service.url }, { authority: cloud.service.url }, { endpoint: cloud.service.url, msi: 'yes' }]) {
      const own = await agentIn({ ...common(), ...federated }, { '/token': 'a-service-account-token' });
      const error = await failureOf(own.read(target({ parameters })));
      expect([error.kind, error.message]).toEqual([
        'Misconfigured',
        expect.stringMatching(/managed identity \(not given to 127\.0\.0\.1:\d+, which the configuration names\)/u),
      ]);
    }
    expect(cloud.service.requests).toEqual([]);
  });

  it('that nobody has are told with all places where they were looked for', async () => {
    cloud.service.setFaults({ refusesLogin: true });
    const own = await agentIn({ ...common(), AZURE_CLIENT_CERTIFICATE_PATH: '/x' });
    expect((await failureOf(own.read(target()))).message).toMatch(
      /tried parameters \(no username\), environment \(AZURE_CLIENT_CERTIFICATE_PATH.*\), workload identity \(.*\), \S+azure\.json \(there is none\), managed identity \(.*Identity not found/u,
    );
  });
});

describe('the providerID of Azure', () => {
  const base = `azure:///subscriptions/${SUBSCRIPTION}/resourceGroups/g/providers/Microsoft.Compute`;
  it.each([
    [`${base}/virtualMachines/vm-1`, { plug: 'vm-1', parameters: { subscriptionId: SUBSCRIPTION, resourceGroup: 'g' } }],
    [
      `${base}/virtualMachineScaleSets/s/virtualMachines/3`,
      { plug: '3', parameters: { subscriptionId: SUBSCRIPTION, resourceGroup: 'g', vmss: 's' } },
    ],
    [`${base}/virtualMachineScaleSets/s/virtualMachines/x`, undefined],
    ['azure:///vm-1', undefined],
  ])('%s is read', (providerID, address) => {
    expect(azure.instanceOf?.(providerID)).toEqual(address);
  });
});
