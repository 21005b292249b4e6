import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type FabricAgent } from '../../src/ports/agents.ts';
import type { EmulatedVolumes } from '../../src/testbed/devices/cloud/aws-volumes.ts';
import { awsCloud, odditiesOf, volumesOf } from '../../src/testbed/devices/cloud/aws.ts';
import { environmentOf, fabricAgentIn, failureOf, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { awsVolume } from './definition.ts';

const [ROOT, PERSISTENT] = ['vol-0aaaa000', 'vol-0bbbb000'];
const SYSTEM = 'vol-0cccc000';

describe('aws-volume', () => {
  let cloud: CloudHarness;
  let volumes: EmulatedVolumes;
  let agent: FabricAgent;
  let instance = '';
  let other = '';

  beforeEach(async () => {
    cloud = await startCloudHarness(awsCloud);
    volumes = volumesOf(cloud.service);
    agent = await fabricAgentIn(awsVolume, environmentOf({ AWS_REGION: 'eu-central-1', ...cloud.service.variables }));
    [instance = '', other = ''] = cloud.service.instances.map(({ id }) => id);
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  const detached = (): string[] => volumes.all.filter(({ detachments }) => detachments.length > 0).map(({ id }) => id);

  it('detaches by force what is attached besides the root, and reads it back, a set in three requests', async () => {
    expect(await agent.read(cloud.target())).toEqual({
      state: 'open',
      detail: `${PERSISTENT} at /dev/xvdba attached; stays: ${ROOT} at /dev/xvda attached`,
      identity: 'verified',
    });
    expect(await agent.set(cloud.target(), 'closed')).toEqual({ result: 'accepted', detail: `${PERSISTENT}: detaching` });
    await expect.poll(() => volumes.attachedTo(instance)).toEqual([]);
    expect(cloud.service.requests).toEqual(['DescribeInstances', 'DescribeVolumes', 'DescribeInstances', 'DescribeVolumes', 'DetachVolume']);
    expect(await agent.read(cloud.target())).toMatchObject({
      state: 'closed',
      detail: `no volume is attached; stays: ${ROOT} at /dev/xvda attached`,
      identity: 'verified',
    });
    expect(volumes.attachedTo(other), 'the other instance').toHaveLength(1);
    expect(cloud.service.instances[0]?.commands, 'what is not by force leaves it busy').toEqual([{ wanted: 'off' }]);
    expect(cloud.machines[0]?.state(), 'a fence of the volumes alone').toBe('on');
  });

  it.each([
    ['attached', 'open'],
    ['attaching', 'pending'],
    ['busy', 'pending'],
    ['detaching', 'pending'],
    ['', 'unknown'],
    ['gone', 'unknown'],
    ['available', 'unknown'],
  ])('reads an attachment that is %j as %s', async (shows, state) => {
    cloud.service.setFaults({ shows });
    expect((await agent.read(cloud.target())).state).toBe(state);
  });

  it('is not closed while a volume is stuck, and asks again for what is on its way', async () => {
    cloud.service.setFaults({ sticksInStopping: true });
    await agent.set(cloud.target(), 'closed');
    expect(await agent.read(cloud.target())).toMatchObject({
      state: 'pending',
      detail: expect.stringContaining(`${PERSISTENT} at /dev/xvdba busy`) as string,
    });
    cloud.service.setFaults({});
    await agent.set(cloud.target(), 'closed');
    await expect.poll(async () => (await agent.read(cloud.target())).state).toBe('closed');
  });

  it('is not closed while the instance itself still shows a volume that DescribeVolumes shows no more', async () => {
    await agent.set(cloud.target(), 'closed');
    await expect.poll(() => volumes.attachedTo(instance)).toEqual([]);
    volumes.oddities.mapping = { late: [PERSISTENT] };
    expect((await agent.read(cloud.target())).state).toBe('open');
  });

  it('is not closed while DescribeVolumes shows a volume that the instance shows no more', async () => {
    volumes.oddities.mapping = { hidden: [PERSISTENT] };
    expect((await agent.read(cloud.target())).state).toBe('open');
  });

  it('knows nothing by a list that does not even show the root, and sends nothing', async () => {
    volumes.oddities.leavesOut = () => true;
    volumes.oddities.mapping = { hidden: [PERSISTENT] };
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'unknown', detail: expect.stringContaining('the root is not seen') as string });
    expect((await failureOf(agent.set(cloud.target(), 'closed'))).kind).toBe('Unreachable');
    volumes.oddities.leavesOut = () => false;
    volumes.oddities.mapping = { hidden: [ROOT, PERSISTENT] };
    expect((await agent.read(cloud.target())).state).toBe('unknown');
    expect(detached()).toEqual([]);
  });

  it('reads every page', async () => {
    Object.assign(volumes.oddities, { volumesPerPage: 1, mapping: { hidden: [PERSISTENT] } });
    expect((await agent.read(cloud.target())).state).toBe('open');
    expect(cloud.service.requests.filter((name) => name === 'DescribeVolumes')).toHaveLength(2);
  });

  it('does not believe pages without an end', async () => {
    for (let index = 0; index < 12; index += 1) volumes.attach(`vol-0dddd${String(index).padStart(3, '0')}`, instance, `/dev/xvdb${index}`);
    volumes.oddities.volumesPerPage = 1;
    expect(await failureOf(agent.read(cloud.target()))).toMatchObject({
      kind: 'Unreachable',
      message: expect.stringContaining('more than 10 pages') as string,
    });
  });

  it('never detaches the root, whatever is written', async () => {
    for (const keep of ['', '/dev/xvdf', PERSISTENT.replace('0bbbb', '0eeee')]) await agent.set(cloud.target({ parameters: { keep } }), 'closed');
    expect(detached()).toEqual([PERSISTENT]);
  });

  it('touches nothing where a volume was launched with the instance and nobody said that it stays', async () => {
    volumes.attach(SYSTEM, instance, '/dev/xvdb', true);
    for (const call of [() => agent.read(cloud.target()), () => agent.set(cloud.target(), 'closed')]) {
      const { kind, message } = await failureOf(call());
      expect([kind, message]).toEqual(['Misconfigured', expect.stringContaining(`${SYSTEM} at /dev/xvdb is deleted with the instance`)]);
    }
    expect(detached()).toEqual([]);
  });

  it.each(['/dev/xvdb', 'xvdb', SYSTEM, `/dev/xvdc, ${SYSTEM}`])('keeps what keep=%s names', async (keep) => {
    volumes.attach(SYSTEM, instance, '/dev/xvdb', true);
    const target = cloud.target({ parameters: { keep } });
    await agent.set(target, 'closed');
    await expect.poll(async () => (await agent.read(target)).state).toBe('closed');
    expect(detached()).toEqual([PERSISTENT]);
    expect((await agent.read(target)).detail).toContain(`${SYSTEM} at /dev/xvdb attached`);
  });

  it('does not keep what is a PersistentVolume by its tag: its pods would write on', async () => {
    const error = await failureOf(agent.read(cloud.target({ parameters: { keep: PERSISTENT } })));
    expect([error.kind, error.message]).toEqual([
      'Misconfigured',
      expect.stringContaining(`keep= names ${PERSISTENT}, which is PersistentVolume pvc-of-a by its tag`),
    ]);
  });

  it('looks at the attachment to this instance alone, of a volume that is at several', async () => {
    volumes.attach(PERSISTENT, other, '/dev/xvdbb');
    volumes.oddities.ignoresFilter = true;
    await agent.set(cloud.target(), 'closed');
    await expect.poll(async () => (await agent.read(cloud.target())).state).toBe('closed');
    expect(volumes.all.find(({ id }) => id === PERSISTENT)?.attachments).toMatchObject([{ instance: other, status: 'attached' }]);
  });

  it('sends nothing where nothing is attached, and says so', async () => {
    await agent.set(cloud.target(), 'closed');
    await expect.poll(() => volumes.attachedTo(instance)).toEqual([]);
    expect(await agent.set(cloud.target(), 'closed')).toEqual({
      result: 'accepted',
      detail: 'no volume is attached; nothing was sent',
      isSent: false,
    });
    expect(agent.mustBeSeenOpen).toBe(true);
  });

  it('attaches nothing, in words', async () => {
    const error = await failureOf(agent.set(cloud.target(), 'open'));
    expect([error.kind, error.message]).toEqual(['Refused', expect.stringContaining('attached by the CSI driver')]);
    expect(awsVolume.actions).not.toContain('on');
  });

  it('asks for the lease in the turn of each send, and sends no more once it is lost', async () => {
    volumes.attach('vol-0dddd000', instance, '/dev/xvdbb');
    let asked = 0;
    const beforeSend = (): void => {
      asked += 1;
      if (asked > 1) throw new AgentError('NotSent', { device: '', plug: '', asked: '', answered: 'the lease is lost' });
    };
    expect((await failureOf(agent.set(cloud.target({ beforeSend }), 'closed'))).kind).toBe('NotSent');
    expect([asked, detached()]).toEqual([2, [PERSISTENT]]);
  });

  it('lets reads decide where the volume is gone before it is told to, or the answer is none', async () => {
    for (const failure of [
      { status: 400, code: 'IncorrectState', message: 'is in the available state' },
      { status: 500, code: 'InternalError', message: 'an internal error' },
    ]) {
      cloud.service.setFaults({ failures: [{ request: 'DetachVolume', ...failure }] });
      expect(await agent.set(cloud.target(), 'closed')).toMatchObject({ result: 'unclear' });
    }
  });

  it.each(['UnauthorizedOperation', 'UnsupportedOperation', 'InvalidVolume.NotFound'])(
    'takes %s for a refusal, in the words of EC2',
    async (code) => {
      cloud.service.setFaults({ failures: [{ request: 'DetachVolume', status: 400, code, message: 'not this volume' }] });
      expect(await failureOf(agent.set(cloud.target(), 'closed'))).toMatchObject({
        kind: 'Refused',
        message: expect.stringContaining(`${code}: not this volume`) as string,
      });
      expect((await agent.read(cloud.target())).state).toBe('open');
    },
  );

  it('takes no volume for detached where its list is refused', async () => {
    cloud.service.setFaults({ failures: [{ request: 'DescribeVolumes', status: 400, code: 'InvalidVolume.NotFound', message: 'does not exist' }] });
    expect((await failureOf(agent.read(cloud.target()))).kind).toBe('Refused');
  });

  it('stops before anything is sent where the instance is another machine', async () => {
    const identity = { node: 'a', providerID: cloud.providerID, addresses: ['10.1.1.1'] };
    expect(await failureOf(agent.set(cloud.target({ identity }), 'closed'))).toMatchObject({
      kind: 'Misconfigured',
      message: expect.stringContaining('is another machine') as string,
    });
    expect(detached()).toEqual([]);
  });

  it('tells a probe what permission is missing, and that a node without volumes is not shut out', async () => {
    cloud.service.setFaults({
      failures: [{ request: 'DetachVolume DryRun', status: 403, code: 'UnauthorizedOperation', message: 'You are not authorized.' }],
    });
    expect((await agent.read(cloud.target({ isProbe: true }))).wouldRefuse).toBe('ec2:DetachVolume: UnauthorizedOperation: You are not authorized.');
    expect(detached()).toEqual([]);
    cloud.service.setFaults({});
    await agent.set(cloud.target(), 'closed');
    await expect.poll(async () => (await agent.read(cloud.target({ isProbe: true }))).detail).toContain('no volume is attached');
    expect((await agent.read(cloud.target({ isProbe: true }))).state).toBe('open');
  });

  it('detaches nothing by a dry run where the endpoint does not know what that is', async () => {
    odditiesOf(cloud.service).ignoresDryRun = true;
    expect((await agent.read(cloud.target({ isProbe: true }))).wouldRefuse).toContain('does not know DryRun');
    expect(detached()).toEqual([]);
  });

  it.each(['vol-xyz', 'vol-0123456789abcdef0;reboot', '-'])('refuses keep=%s', (keep) => {
    expect(awsVolume.check({ keep }, false)).toEqual([
      { parameter: 'keep', message: 'must be volumes or devices such as vol-0123456789abcdef0 /dev/xvdb' },
    ]);
  });
});
