import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { PowerAgent } from '../../src/ports/agents.ts';
import { awsCloud, odditiesOf, type AwsOddities } from '../../src/testbed/devices/cloud/aws.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { aws } from './definition.ts';

const DELETIONS = /^Terminate\w+(?! DryRun)$/;

describe('an instance of EC2 that is deleted', () => {
  let cloud: CloudHarness;
  let agent: PowerAgent;

  beforeEach(async () => {
    cloud = await startCloudHarness(awsCloud);
    agent = await powerAgentIn(aws, environmentOf({ AWS_REGION: 'eu-central-1', ...cloud.service.variables }));
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  const odd = (oddities: AwsOddities): void => void Object.assign(odditiesOf(cloud.service), oddities);
  const deletions = (): string[] => cloud.service.requests.filter((name) => DELETIONS.test(name));
  const remove = async (change?: Parameters<CloudHarness['target']>[0]): Promise<unknown> => agent.remove?.(cloud.target(change));
  const removal = async (): Promise<unknown> => agent.removal?.(cloud.target());

  async function stopped(): Promise<void> {
    await agent.set(cloud.target(), 'off');
    await expect.poll(() => cloud.machines[0]?.state()).toBe('off');
  }

  it('goes only when it is stopped, and by its id', async () => {
    const running = await failureOf(remove());
    expect([running.kind, running.facts.answered]).toEqual(['Refused', 'nothing was sent: it is not off (state=running (16))']);
    await stopped();
    expect(await removal()).toEqual({ isGone: false, detail: 'state=stopped (80)' });
    expect(await remove()).toEqual({ result: 'accepted', detail: 'stopped to shutting-down' });
    await expect.poll(removal).toEqual({ isGone: true, detail: 'state=terminated (48)' });
    expect(deletions()).toEqual(['TerminateInstances']);
    expect(cloud.service.instances.map(({ isDeleted }) => isDeleted)).toEqual([true, false]);
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'off' });
  });

  it('counts as gone from where nothing leads back, and when EC2 knows it no more; never before', async () => {
    await stopped();
    cloud.service.setFaults({ stopMs: 60_000 });
    await remove();
    expect(await removal()).toEqual({ isGone: true, detail: 'state=shutting-down (32)' });
    odd({ forgetsDeleted: true });
    expect(await removal()).toEqual({ isGone: true, detail: 'EC2 does not know it any more' });
    expect((await failureOf(agent.read(cloud.target()))).facts.answered, 'for a fence that proves nothing').toContain('no proof that it is off');
  });

  it('is not told twice: one that is terminated already is left as it is', async () => {
    await stopped();
    await remove();
    await expect.poll(removal).toMatchObject({ isGone: true, detail: 'state=terminated (48)' });
    expect(await remove()).toEqual({ result: 'accepted', detail: 'state=terminated (48): nothing was sent' });
    expect(deletions()).toHaveLength(1);
  });

  it('is ended by its Auto Scaling group, which keeps its capacity', async () => {
    odd({ group: 'workers' });
    await stopped();
    expect(await remove()).toEqual({ result: 'accepted', detail: 'HTTP 200 by the Auto Scaling group workers' });
    expect(deletions()).toEqual(['TerminateInstanceInAutoScalingGroup']);
    await expect.poll(removal).toMatchObject({ isGone: true });
  });

  it.each([undefined, 'workers'])('that is protected stays (group %s)', async (group) => {
    odd({ isProtected: true, ...(group === undefined ? {} : { group }) });
    await stopped();
    const error = await failureOf(remove());
    expect(error.kind).toBe('Refused');
    expect(error.facts.answered).toMatch(/disableApiTermination/iu);
    expect(await removal()).toMatchObject({ isGone: false });
    expect(cloud.service.instances[0]?.isDeleted).toBe(false);
  });

  it('stays where its identity is not proven, or another machine has its place', async () => {
    await stopped();
    const unknown = await failureOf(remove({ identity: { node: 'a' } }));
    expect([unknown.kind, unknown.facts.answered]).toEqual(['Refused', expect.stringContaining('not proven to be the node')]);
    const other = await failureOf(remove({ identity: { node: 'a', addresses: ['10.9.0.7'] } }));
    expect([other.kind, other.facts.answered]).toEqual(['Misconfigured', expect.stringContaining('another machine')]);
    cloud.service.setFaults({ isReplaced: true });
    expect((await failureOf(remove())).kind).toBe('Misconfigured');
    expect(deletions()).toEqual([]);
  });

  it('is not sent where the lease does not allow it, not even again after a throttling', async () => {
    await stopped();
    const never = (): void => {
      throw new Error('the lease is over');
    };
    await expect(remove({ beforeSend: never })).rejects.toThrow('the lease is over');
    expect(deletions()).toEqual([]);
    const throttled = { request: 'TerminateInstances', status: 503, code: 'RequestLimitExceeded', message: 'Request limit exceeded.', times: 1 };
    cloud.service.setFaults({ failures: [throttled] });
    let asked = 0;
    const once = (): void => {
      asked += 1;
      if (asked > 1) throw new Error('the lease is over');
    };
    await expect(remove({ beforeSend: once })).rejects.toThrow('the lease is over');
    expect([asked, cloud.service.instances[0]?.isDeleted]).toEqual([2, false]);
  });

  it('of which the answer is lost may be gone or not: the cloud is asked what is left', async () => {
    await stopped();
    cloud.service.setFaults({ failures: [{ request: 'TerminateInstances', status: 500, code: 'InternalError', message: 'x', times: 1 }] });
    expect(await remove()).toMatchObject({ result: 'unclear' });
    expect(await removal()).toMatchObject({ isGone: false });
    cloud.service.setFaults({ failures: [{ request: 'DescribeInstances', status: 500, code: 'InternalError', message: 'x', times: 1 }] });
    await expect(removal()).rejects.toMatchObject({ kind: 'Unreachable' });
    cloud.service.setFaults({ noise: true });
    await expect(removal()).rejects.toMatchObject({ kind: 'Unreachable' });
  });

  it('has its right asked for by a probe, and by no other', async () => {
    await agent.read(cloud.target({ isProbe: true }));
    expect(cloud.service.requests.some((name) => name.startsWith('Terminate'))).toBe(false);
    const denied = { request: 'TerminateInstances DryRun', status: 403, code: 'UnauthorizedOperation', message: 'You are not authorized' };
    cloud.service.setFaults({ failures: [denied] });
    const read = await agent.read(cloud.target({ isProbe: true, deletes: true }));
    expect(read.wouldRefuse).toBe('ec2:TerminateInstances: UnauthorizedOperation: You are not authorized');
    expect(deletions()).toEqual([]);
  });
});
