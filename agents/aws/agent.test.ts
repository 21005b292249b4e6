import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type PowerAgent } from '../../src/ports/agents.ts';
import { awsCloud, odditiesOf } from '../../src/testbed/devices/cloud/aws.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { aws } from './definition.ts';

describe('aws', () => {
  let cloud: CloudHarness;
  let agent: PowerAgent;

  const agentIn = (variables: Record<string, string>): Promise<PowerAgent> => powerAgentIn(aws, environmentOf(variables));

  beforeEach(async () => {
    cloud = await startCloudHarness(awsCloud);
    agent = await agentIn({ AWS_REGION: 'eu-central-1', ...cloud.service.variables });
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  it('stops and starts an instance with nothing but the environment, in four requests besides polls', async () => {
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'on', detail: 'state=running (16)', identity: 'verified' });
    const before = cloud.service.requests.length;
    expect(await agent.set(cloud.target(), 'off')).toEqual({ result: 'accepted', detail: 'running to stopping' });
    await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'off', detail: 'state=stopped (80)', identity: 'verified' });
    expect(await agent.set(cloud.target(), 'on')).toMatchObject({ result: 'accepted' });
    const polls = 1;
    expect(cloud.service.requests.length - before - polls).toBe(4);
    expect(cloud.machines[1]?.state(), 'the other instance').toBe('on');
  });

  it('stops without the shutdown of the operating system, and by force', async () => {
    await agent.set(cloud.target(), 'off');
    await agent.set(cloud.target({ parameters: { skip_os_shutdown: 'no' } }), 'off');
    const sets = cloud.service.requests.filter((name) => name.startsWith('Stop'));
    expect(sets).toEqual(['StopInstances', 'StopInstances after its shutdown']);
    // The emulator takes a stop that is not by force for an error.
    expect(cloud.service.instances[0]?.commands).toEqual([{ wanted: 'off' }, { wanted: 'off' }]);
  });

  it.each([
    ['0', 'pending'],
    ['16', 'on'],
    ['272', 'on'],
    ['32', 'pending'],
    ['48', 'off'],
    ['64', 'pending'],
    ['80', 'off'],
    ['65616', 'off'],
    ['', 'unknown'],
    ['off', 'unknown'],
    ['-176', 'unknown'],
    ['96', 'unknown'],
  ])('reads the state code %s as %s: its low byte alone counts', async (shows, state) => {
    cloud.service.setFaults({ shows });
    expect((await agent.read(cloud.target())).state).toBe(state);
  });

  it.each([
    ['Client.UserInitiatedHibernate', undefined, 'unknown'],
    ['Client.UserInitiatedHibernate', true, 'unknown'],
    ['Client.InstanceInitiatedShutdown', true, 'unknown'],
    [undefined, true, 'unknown'],
    ['Client.UserInitiatedShutdown', true, 'off'],
    ['Client.InstanceInitiatedShutdown', undefined, 'off'],
    ['Server.ScheduledStop', undefined, 'off'],
  ] as const)('reads a stopped instance for the reason %s, hibernation %s, as %s', async (stateReason, mayHibernate, state) => {
    cloud.service.setFaults({ shows: '80' });
    Object.assign(odditiesOf(cloud.service), { ...(stateReason === undefined ? {} : { stateReason }), mayHibernate });
    const reading = await agent.read(cloud.target());
    expect([reading.state, reading.detail.includes('would go on where it was')]).toEqual([state, state === 'unknown']);
  });

  it.each([
    ['Server.SpotInstanceShutdown', 'unknown'],
    ['Client.InstanceInitiatedShutdown', 'unknown'],
    [undefined, 'unknown'],
    ['Client.UserInitiatedShutdown', 'off'],
  ] as const)('reads a stopped spot instance for the reason %s as %s: its interruption may have hibernated it', async (stateReason, state) => {
    cloud.service.setFaults({ shows: '80' });
    const elements = '<instanceLifecycle>spot</instanceLifecycle>';
    Object.assign(odditiesOf(cloud.service), { ...(stateReason === undefined ? {} : { stateReason }), elements });
    const reading = await agent.read(cloud.target());
    expect([reading.state, reading.detail.includes('would go on where it was')]).toEqual([state, state === 'unknown']);
  });

  it('reads a running instance as on, whatever it was stopped for before', async () => {
    Object.assign(odditiesOf(cloud.service), { stateReason: 'Client.UserInitiatedHibernate', mayHibernate: true });
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'on', detail: 'state=running (16)' });
  });

  it('does not ask for the start of an instance that is gone for good', async () => {
    cloud.service.setFaults({ shows: '48' });
    const error = await failureOf(agent.set(cloud.target(), 'on'));
    expect([error.kind, error.message]).toEqual(['Refused', expect.stringContaining('it is gone for good')]);
    expect(cloud.service.requests).toEqual(['DescribeInstances']);
  });

  it('never takes an instance that is not found for off: it may stand in another region or account', async () => {
    const error = await failureOf(agent.read(cloud.target({ plug: 'i-0ffffffffffffffff', identity: { node: 'a' } })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toMatch(/does not exist.*region eu-central-1 \(credentials: environment\).*no proof that it is off/u);
  });

  it.each([
    ['another instance', { providerID: 'aws:///eu-central-1a/i-0abc0000000000009' }, /the node's providerID is aws/u],
    ['a machine of Fargate', { providerID: 'aws:///eu-central-1a/x/fargate-ip-10-9-0-1' }, /the node's providerID is aws/u],
    ['a node with other addresses', { addresses: ['10.7.7.7'] }, /its addresses are 10\.9\.0\.1, the node's 10\.7\.7\.7/u],
  ])('sends nothing for %s', async (_name, identity, words) => {
    const error = await failureOf(agent.set(cloud.target({ identity: { ...cloud.target().identity, ...identity } }), 'off'));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringMatching(words)]);
    expect(cloud.service.instances[0]?.commands).toEqual([]);
  });

  it('asks for the lease in the turn of each send, also of one that comes again after a throttle', async () => {
    const refused = { request: 'StopInstances', status: 503, code: 'RequestLimitExceeded', message: 'Request limit exceeded.', times: 1 };
    cloud.service.setFaults({ failures: [refused] });
    let asked = 0;
    const beforeSend = (): void => {
      asked += 1;
      if (asked === 2) throw new AgentError('NotSent', { device: '', plug: '', asked: 'off', answered: 'the lease is over' });
    };
    const error = await failureOf(agent.set(cloud.target({ beforeSend }), 'off'));
    expect([error.kind, asked]).toEqual(['NotSent', 2]);
    expect(cloud.service.requests.filter((name) => name === 'StopInstances')).toHaveLength(1);
    expect(cloud.machines[0]?.state()).toBe('on');
  });

  it('repeats what was throttled within the call, and says so when it stays so', async () => {
    const failures = (times?: number): { request: string; status: number; code: string; message: string; times?: number }[] => [
      {
        request: 'DescribeInstances',
        status: 503,
        code: 'RequestLimitExceeded',
        message: 'Request limit exceeded.',
        ...(times === undefined ? {} : { times }),
      },
    ];
    cloud.service.setFaults({ failures: failures(2) });
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'on' });
    cloud.service.setFaults({ failures: failures() });
    const error = await failureOf(agent.read(cloud.target({ deadlineMs: 600 })));
    expect([error.kind, error.message]).toEqual(['Unreachable', expect.stringContaining('RequestLimitExceeded')]);
  });

  it('signs with the time of the cloud where ours is another', async () => {
    cloud.service.setFaults({ aheadMs: 3_600_000 });
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'on' });
    expect(cloud.service.requests).toEqual(['DescribeInstances', 'DescribeInstances']);
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'on' });
    expect(cloud.service.requests, 'the time is kept').toHaveLength(3);
  });

  it('signs every call anew that was signed by the wrong time, also those that went together', async () => {
    cloud.service.setFaults({ aheadMs: 3_600_000 });
    const readings = await Promise.all(Array.from({ length: 4 }, () => agent.read(cloud.target())));
    expect(readings.map(({ state }) => state)).toEqual(['on', 'on', 'on', 'on']);
  });

  it('takes a bare 503 for no refusal of a set: somebody between may have said so, behind whom it was done', async () => {
    cloud.service.setFaults({ failures: [{ request: 'StopInstances', status: 503, code: '', message: 'upstream' }] });
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'unclear' });
    expect(cloud.service.requests.filter((name) => name === 'StopInstances')).toHaveLength(1);
  });

  it('takes a set that left without an answer for unclear, and a refusal for one', async () => {
    cloud.service.setFaults({
      failures: [{ request: 'StopInstances', status: 500, code: 'InternalError', message: 'An internal error has occurred' }],
    });
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'unclear', detail: expect.stringContaining('InternalError') as string });
    cloud.service.setFaults({ failures: [{ request: 'StopInstances', status: 403, code: 'UnauthorizedOperation', message: 'not yours' }] });
    const error = await failureOf(agent.set(cloud.target(), 'off'));
    expect([error.kind, error.message]).toEqual(['Refused', expect.stringContaining('not yours (credentials: environment)')]);
  });

  it('tells a probe of the right that is missing, and of what a fence would fail on', async () => {
    const missing = { request: 'StopInstances DryRun', status: 403, code: 'UnauthorizedOperation', message: 'You are not authorized.' };
    cloud.service.setFaults({ failures: [missing] });
    const reading = await agent.read(cloud.target({ isProbe: true }));
    expect(reading.wouldRefuse).toBe('ec2:StopInstances: UnauthorizedOperation: You are not authorized.');
    expect(cloud.service.requests).toEqual(['DescribeInstances', 'DescribeInstances DryRun', 'StopInstances DryRun', 'StartInstances DryRun']);
    cloud.service.setFaults({});
    expect((await agent.read(cloud.target({ isProbe: true }))).wouldRefuse).toBeUndefined();
    expect(cloud.service.instances[0]?.commands, 'nothing is done by a dry run').toEqual([]);
  });

  it('stops nothing by a dry run where the endpoint does not know what that is', async () => {
    Object.assign(odditiesOf(cloud.service), { ignoresDryRun: true });
    const reading = await agent.read(cloud.target({ isProbe: true }));
    expect(reading.wouldRefuse).toMatch(/the endpoint does not know DryRun \(HTTP 200\)/u);
    expect(cloud.service.instances[0]?.commands).toEqual([]);
  });

  it('tells a probe what an operator has to know of the instance', async () => {
    Object.assign(odditiesOf(cloud.service), { elements: '<instanceLifecycle>spot</instanceLifecycle>' });
    const { detail } = await agent.read(cloud.target({ isProbe: true }));
    expect(detail).toBe('state=running (16); a spot instance: only a persistent request lets it be stopped');
  });

  it('lists the instances with their names', async () => {
    const plugs = await agent.list?.(cloud.target());
    expect(plugs).toEqual([
      { plug: cloud.service.instances[0]?.id, alias: 'a', state: 'on' },
      { plug: cloud.service.instances[1]?.id, alias: 'b', state: 'on' },
    ]);
  });

  it('holds no secret in any error', async () => {
    const secret = cloud.service.variables['AWS_SECRET_ACCESS_KEY'] ?? 'none';
    const faults = [{ refusesLogin: true }, { noise: true }, { truncates: true }, { stalls: true }, { aheadMs: -90_000_000 }] as const;
    const errors: string[] = [];
    for (const fault of faults) {
      cloud.service.setFaults(fault);
      const outcome = await agent.read(cloud.target({ deadlineMs: 500 })).then(
        () => 'read',
        (error: unknown) => String(error),
      );
      errors.push(outcome);
    }
    expect(errors.filter((text) => text === 'read')).toHaveLength(1);
    expect(errors.join('\n')).not.toContain(secret);
  });
});

describe('the providerID of AWS', () => {
  it.each([
    ['aws:///eu-central-1a/i-0123456789abcdef0', 'eu-central-1'],
    ['aws:////i-0123456789abcdef0', undefined],
    ['aws:///us-west-2-lax-1a/i-0123456789abcdef0', 'us-west-2'],
    ['aws:///us-east-1-wl1-bos-wlz-1/i-0123456789abcdef0', 'us-east-1'],
    ['aws:///us-gov-west-1b/i-0123456789abcdef0', 'us-gov-west-1'],
  ])('%s stands in region %s', (providerID, region) => {
    expect(aws.instanceOf?.(providerID)).toEqual({ plug: 'i-0123456789abcdef0', parameters: region === undefined ? {} : { region } });
  });

  it.each(['aws:///eu-central-1a/fargate-ip-10-0-0-1', 'gce://p/z/i-0123456789abcdef0', 'aws://', 'aws:///eu-central-1a/i-xyz'])(
    '%s names no instance',
    (id) => {
      expect(aws.instanceOf?.(id)).toBeUndefined();
    },
  );
});
