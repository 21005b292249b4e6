import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type FabricAgent, type Target } from '../../src/ports/agents.ts';
import { ISOLATION_GROUP, type EmulatedInterface, type EmulatedInterfaces } from '../../src/testbed/devices/cloud/aws-interfaces.ts';
import { awsCloud, interfacesOf, odditiesOf } from '../../src/testbed/devices/cloud/aws.ts';
import { environmentOf, fabricAgentIn, failureOf, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { awsSecurityGroup } from './definition.ts';

const [ENI, SECOND] = ['eni-00000000', 'eni-0000000f'];
const GROUPS = ['sg-00000000b', 'sg-00000000c'];
const TAG = 'nodefence/groups';

describe('aws-security-group', () => {
  let cloud: CloudHarness;
  let interfaces: EmulatedInterfaces;
  let agent: FabricAgent;

  beforeEach(async () => {
    cloud = await startCloudHarness(awsCloud);
    interfaces = interfacesOf(cloud.service);
    agent = await fabricAgentIn(awsSecurityGroup, environmentOf({ AWS_REGION: 'eu-central-1', ...cloud.service.variables }));
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  const target = (change: Partial<Target> = {}): Target => cloud.target({ parameters: { group: ISOLATION_GROUP }, ...change });
  const found = (id = ENI): EmulatedInterface | undefined => interfaces.all.find((one) => one.id === id);
  const read = async (change: Partial<Target> = {}): Promise<string> => (await agent.read(target(change))).state;
  const sent = (): string[] => cloud.service.requests.filter((name) => /^(?:Modify|CreateTags|DeleteTags)/u.test(name) && !name.includes('DryRun'));

  function addSecond(groups: string[] = ['sg-00000000d']): EmulatedInterface {
    const second = { id: SECOND, instance: cloud.service.instances[0]?.id ?? '', vpc: found()?.vpc ?? '', groups, tags: {} };
    interfaces.all.push(second);
    return second;
  }

  it('gives every interface the group of isolation, having noted what each had, and gives exactly that back', async () => {
    const second = addSecond();
    expect(await agent.read(target())).toMatchObject({
      state: 'open',
      identity: 'verified',
      detail: `${ENI} ${GROUPS.join('+')}, ${SECOND} sg-00000000d`,
    });
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'accepted' });
    await expect.poll(() => read()).toBe('closed');
    expect([found()?.groups, second.groups]).toEqual([[ISOLATION_GROUP], [ISOLATION_GROUP]]);
    expect(found()?.tags).toEqual({ [TAG]: GROUPS.join(' ') });
    expect(interfaces.flows(cloud.service.instances[1]?.id ?? ''), 'the other instance').toBe(true);
    expect(await agent.set(target(), 'open')).toMatchObject({ result: 'accepted' });
    await expect.poll(() => read()).toBe('open');
    expect([found()?.groups, second.groups]).toEqual([GROUPS, ['sg-00000000d']]);
    expect([found()?.tags, second.tags]).toEqual([{}, {}]);
  });

  it('notes the groups before it changes them', async () => {
    await agent.set(target(), 'closed');
    expect(sent()).toEqual(['CreateTags', 'ModifyNetworkInterfaceAttribute']);
  });

  it('changes nothing of an interface whose groups may not have been noted', async () => {
    cloud.service.setFaults({ failures: [{ request: 'CreateTags', status: 500, code: 'InternalError', message: 'an internal error' }] });
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'unclear' });
    cloud.service.setFaults({ failures: [{ request: 'CreateTags', status: 403, code: 'UnauthorizedOperation', message: 'not authorized' }] });
    expect((await failureOf(agent.set(target(), 'closed'))).kind).toBe('Refused');
    expect([found()?.groups, sent()]).toEqual([GROUPS, ['CreateTags', 'CreateTags']]);
  });

  it('does not write over what was noted when it isolates again', async () => {
    await agent.set(target(), 'closed');
    await expect.poll(() => read()).toBe('closed');
    expect(await agent.set(target(), 'closed')).toMatchObject({ isSent: false });
    expect(found()?.tags).toEqual({ [TAG]: GROUPS.join(' ') });
  });

  it.each([undefined, '', 'sg-00000000b,sg-00000000c', 'sg-00000000b sg-evil;'])('guesses nothing where the tag is %j', async (tag) => {
    const one = found();
    if (one === undefined) throw new Error('no interface');
    Object.assign(one, { groups: [ISOLATION_GROUP], tags: tag === undefined ? {} : { [TAG]: tag } });
    const error = await failureOf(agent.set(target(), 'open'));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('by hand')]);
    expect(sent()).toEqual([]);
  });

  it('is open again though the tag may not be taken away, and says so', async () => {
    await agent.set(target(), 'closed');
    await expect.poll(() => read()).toBe('closed');
    cloud.service.setFaults({ failures: [{ request: 'DeleteTags', status: 403, code: 'UnauthorizedOperation', message: 'not authorized' }] });
    expect(await agent.set(target(), 'open')).toMatchObject({
      result: 'accepted',
      detail: expect.stringContaining(`the tag ${TAG} of ${ENI} stays`) as string,
    });
    expect(await read()).toBe('open');
  });

  it('is not closed by a group that was given rules, and is opened again all the same', async () => {
    await agent.set(target(), 'closed');
    await expect.poll(() => read()).toBe('closed');
    const group = interfaces.groups.find(({ id }) => id === ISOLATION_GROUP);
    if (group !== undefined) group.outbound = 1;
    expect(await agent.read(target())).toMatchObject({ state: 'pending', detail: expect.stringContaining('has 1 rules') as string });
    expect((await failureOf(agent.set(target(), 'closed'))).kind).toBe('Misconfigured');
    await agent.set(target(), 'open');
    await expect.poll(() => read()).toBe('open');
    expect(found()?.groups).toEqual(GROUPS);
  });

  it.each(['ipPermissions', 'ipPermissionsEgress'] as const)('is not closed by a group whose rules are not all shown: %s', async (list) => {
    await agent.set(target(), 'closed');
    await expect.poll(() => read()).toBe('closed');
    interfaces.oddities.hidesRules = list;
    expect(await agent.read(target())).toMatchObject({ state: 'pending', detail: expect.stringContaining('are not shown') as string });
    expect((await failureOf(agent.set(target(), 'closed'))).kind).toBe('Misconfigured');
  });

  it('is on its way while some interfaces are isolated and others not', async () => {
    addSecond([ISOLATION_GROUP]);
    expect(await read()).toBe('pending');
  });

  describe('with a pod that has security groups of its own', () => {
    const BRANCH = 'eni-000000b1';
    const TRUNK_TAG = 'vpcresources.k8s.aws/trunk-eni-id';

    const addBranch = (tags: Record<string, string>): EmulatedInterface => {
      const branch: EmulatedInterface = { id: BRANCH, type: 'branch', instance: '', vpc: found()?.vpc ?? '', groups: ['sg-00000000d'], tags };
      interfaces.all.push(branch);
      return branch;
    };

    beforeEach(() => {
      addSecond().type = 'trunk';
    });

    it('isolates the interfaces of pods, which no attachment leads to, and gives back what they had', async () => {
      const branch = addBranch({ [TRUNK_TAG]: SECOND });
      expect((await agent.read(target())).detail).toContain(`${BRANCH} sg-00000000d`);
      interfaces.isolate(cloud.service.instances[0]?.id ?? '', TAG);
      expect(await read()).toBe('pending');
      expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'accepted' });
      await expect.poll(() => read()).toBe('closed');
      expect(branch).toMatchObject({ groups: [ISOLATION_GROUP], tags: { [TRUNK_TAG]: SECOND, [TAG]: 'sg-00000000d' } });
      await agent.set(target(), 'open');
      await expect.poll(() => read()).toBe('open');
      expect(branch).toMatchObject({ groups: ['sg-00000000d'], tags: { [TRUNK_TAG]: SECOND } });
    });

    it('leaves those of other instances alone', async () => {
      addBranch({ [TRUNK_TAG]: 'eni-0000000e' });
      await agent.set(target(), 'closed');
      await expect.poll(() => read()).toBe('closed');
      expect(found(BRANCH)?.groups).toEqual(['sg-00000000d']);
    });

    it('knows nothing by one whose groups are not shown', async () => {
      addBranch({ [TRUNK_TAG]: SECOND }).groups = [];
      expect(await read()).toBe('unknown');
    });
  });

  it('is not closed with the group of isolation beside another', async () => {
    const one = found();
    if (one !== undefined) one.groups = [ISOLATION_GROUP, 'sg-00000000b'];
    expect(await read()).toBe('open');
  });

  it('is not closed while the instance itself still shows other groups', async () => {
    await agent.set(target(), 'closed');
    await expect.poll(() => read()).toBe('closed');
    interfaces.oddities.instanceShows = GROUPS;
    expect(await read()).toBe('pending');
  });

  it('knows nothing by a list that leaves an interface out', async () => {
    addSecond();
    interfaces.isolate(cloud.service.instances[0]?.id ?? '', TAG);
    interfaces.oddities.leavesOut = ({ id }) => id === SECOND;
    expect(await read()).toBe('unknown');
    expect((await failureOf(agent.set(target(), 'closed'))).kind).toBe('Unreachable');
    interfaces.all.splice(0);
    expect(await read()).toBe('unknown');
  });

  it.each([
    ['sg-00000000c', 'has 1 rules'],
    ['sg-00000000d', 'has 1 rules'],
    ['sg-00000000e', 'has to be of the same VPC'],
  ])('isolates by no group that isolates nothing: %s %s', async (group, words) => {
    const error = await failureOf(agent.set(target({ parameters: { group } }), 'closed'));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining(words)]);
    expect(sent()).toEqual([]);
    expect((await agent.read(target({ parameters: { group }, isProbe: true }))).wouldRefuse).toContain(words);
  });

  it('tells a probe that the group is not there, and which permission is missing', async () => {
    expect((await agent.read(target({ parameters: { group: 'sg-0123456789abcdef0' }, isProbe: true }))).wouldRefuse).toContain(
      'InvalidGroup.NotFound',
    );
    cloud.service.setFaults({ failures: [{ request: 'CreateTags DryRun', status: 403, code: 'UnauthorizedOperation', message: 'not authorized' }] });
    expect((await agent.read(target({ isProbe: true }))).wouldRefuse).toBe('ec2:CreateTags: UnauthorizedOperation: not authorized');
    cloud.service.setFaults({});
    expect((await agent.read(target({ isProbe: true }))).wouldRefuse).toBeUndefined();
    odditiesOf(cloud.service).ignoresDryRun = true;
    expect(sent()).toEqual([]);
  });

  it('refuses an interface with more groups than a tag holds', async () => {
    const one = found();
    if (one !== undefined) one.groups = Array.from({ length: 13 }, (_, index) => `sg-0000000${index.toString(16)}f`);
    expect((await failureOf(agent.set(target(), 'closed'))).message).toContain('more than 12 groups');
    expect(sent()).toEqual([]);
  });

  it('asks for the lease in the turn of each send, and sends no more once it is lost', async () => {
    let asked = 0;
    const beforeSend = (): void => {
      asked += 1;
      if (asked > 1) throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'the lease is lost' });
    };
    expect((await failureOf(agent.set(target({ beforeSend }), 'closed'))).kind).toBe('NotSent');
    expect([asked, sent(), found()?.groups]).toEqual([2, ['CreateTags'], GROUPS]);
  });

  it('stops before anything is sent where the instance is another machine', async () => {
    const identity = { node: 'a', providerID: cloud.providerID, addresses: ['10.1.1.1'] };
    expect((await failureOf(agent.set(target({ identity }), 'closed'))).kind).toBe('Misconfigured');
    expect(sent()).toEqual([]);
  });

  it.each(['', 'default', 'sg-xyz'])('refuses group=%s', (group) => {
    expect(awsSecurityGroup.check({ group }, false).map(({ parameter }) => parameter)).toEqual(['group']);
  });
});
