import { spawn, spawnSync } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { FabricAgent, PowerAgent, Target } from '../../src/ports/agents.ts';
import { freePorts } from '../../src/testbed/control-plane/free-port.ts';
import { environmentOf, fabricAgentIn, powerAgentIn } from '../../src/testbed/devices/cloud/testing.ts';
import { childrenNamed, parseXml, type XmlElement } from '../shared/xml.ts';
import { aws, awsSecurityGroup, awsVolume } from './definition.ts';

/** EC2 as moto serves it, which nobody here wrote: `pip install 'moto[server,ec2]'`, on the PATH or named by this variable. */
const SERVER = process.env['NODEFENCE_MOTO_SERVER'] ?? 'moto_server';
const isThere = spawnSync(SERVER, ['--help'], { stdio: 'ignore' }).status === 0;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('it did not come to this in 20 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function textOf(element: XmlElement | undefined, ...path: readonly string[]): string {
  const found = path.reduce<XmlElement | undefined>((at, name) => childrenNamed(at, name)[0], element);
  return found?.text ?? '';
}

describe.skipIf(!isThere)("against moto (pip install 'moto[server,ec2]')", () => {
  let url = '';
  let agent: PowerAgent;
  let volumes: FabricAgent;
  let groups: FabricAgent;
  let instance = '';
  let address = '';
  const cleanUp: (() => Promise<unknown>)[] = [];

  async function ask(parameters: Record<string, string>): Promise<XmlElement | undefined> {
    const body = new URLSearchParams({ Version: '2016-11-15', ...parameters });
    const headers = { Authorization: 'AWS4-HMAC-SHA256 Credential=test/20261126/eu-central-1/ec2/aws4_request' };
    const response = await fetch(url, { method: 'POST', body, headers });
    return parseXml(await response.text());
  }

  beforeAll(async () => {
    const [port = 0] = await freePorts('127.0.0.1', 1);
    url = `http://127.0.0.1:${port}/`;
    const child = spawn(SERVER, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    cleanUp.push(() => {
      child.kill('SIGKILL');
      return ended;
    });
    await until(() =>
      fetch(`${url}moto-api/`).then(
        () => true,
        () => false,
      ),
    );
    const images = await ask({ Action: 'DescribeImages' });
    const image = textOf(images, 'imagesSet', 'item', 'imageId');
    const run = await ask({ Action: 'RunInstances', ImageId: image, MinCount: '1', MaxCount: '1', InstanceType: 't3.micro' });
    instance = textOf(run, 'instancesSet', 'item', 'instanceId');
    address = textOf(run, 'instancesSet', 'item', 'privateIpAddress');
    const host = environmentOf({ AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_ENDPOINT_URL: url });
    agent = await powerAgentIn(aws, host);
    volumes = await fabricAgentIn(awsVolume, host);
    groups = await fabricAgentIn(awsSecurityGroup, host);
    cleanUp.push(async () => Promise.all([agent.close?.(), volumes.close?.(), groups.close?.()]));
  }, 60_000);

  afterAll(async () => {
    for (const step of cleanUp.splice(0).reverse()) await step();
  });

  const target = (change: Partial<Target> = {}): Target => ({
    plug: instance,
    device: 'aws eu-central-1',
    parameters: { region: 'eu-central-1' },
    identity: { node: 'a', providerID: `aws:///eu-central-1a/${instance}`, addresses: [address] },
    signal: new AbortController().signal,
    deadlineMs: 10_000,
    beforeSend: () => undefined,
    ...change,
  });

  it('identifies the instance, stops it, reads it stopped, and starts it', async () => {
    expect(await agent.read(target())).toMatchObject({ state: 'on', identity: 'verified', detail: 'state=running (16)' });
    expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
    await expect.poll(async () => (await agent.read(target())).state, { timeout: 10_000 }).toBe('off');
    await agent.set(target(), 'on');
    await expect.poll(async () => (await agent.read(target())).state, { timeout: 10_000 }).toBe('on');
  });

  it('tells by dry runs that it may switch it', async () => {
    expect((await agent.read(target({ isProbe: true }))).wouldRefuse).toBeUndefined();
    expect((await agent.read(target())).state, 'a dry run stops nothing').toBe('on');
  });

  it('detaches a volume of the instance that runs, reads it back, and leaves the root', async () => {
    const created = await ask({ Action: 'CreateVolume', AvailabilityZone: 'eu-central-1a', Size: '1' });
    const volume = textOf(created, 'volumeId');
    await ask({ Action: 'AttachVolume', VolumeId: volume, InstanceId: instance, Device: '/dev/xvdba' });
    expect(await volumes.read(target())).toMatchObject({
      state: 'open',
      identity: 'verified',
      detail: expect.stringContaining(`${volume} at`) as string,
    });
    expect((await volumes.read(target({ isProbe: true }))).wouldRefuse).toBeUndefined();
    expect(await volumes.set(target(), 'closed')).toMatchObject({ result: 'accepted' });
    await expect.poll(async () => (await volumes.read(target())).state, { timeout: 10_000 }).toBe('closed');
    expect((await volumes.read(target())).detail).toMatch(/^no volume is attached; stays: vol-[0-9a-f]+ at \S+ attached$/u);
    expect((await agent.read(target())).state).toBe('on');
  });

  it('isolates the instance by a group without rules, and gives back the groups that it had', async () => {
    const vpc = textOf(
      await ask({ Action: 'DescribeInstances', 'InstanceId.1': instance }),
      'reservationSet',
      'item',
      'instancesSet',
      'item',
      'vpcId',
    );
    const created = await ask({ Action: 'CreateSecurityGroup', GroupName: 'isolation', GroupDescription: 'nothing', VpcId: vpc });
    const group = textOf(created, 'groupId');
    const parameters = { region: 'eu-central-1', group };
    // A new group lets everything out, which a probe says.
    expect((await groups.read(target({ parameters, isProbe: true }))).wouldRefuse).toContain('has 1 rules');
    const all = { 'IpPermissions.1.IpProtocol': '-1', 'IpPermissions.1.IpRanges.1.CidrIp': '0.0.0.0/0' };
    await ask({ Action: 'RevokeSecurityGroupEgress', GroupId: group, ...all });
    expect((await groups.read(target({ parameters, isProbe: true }))).wouldRefuse).toBeUndefined();
    const before = (await groups.read(target({ parameters }))).detail;
    expect(await groups.set(target({ parameters }), 'closed')).toMatchObject({ result: 'accepted' });
    await expect.poll(async () => (await groups.read(target({ parameters }))).state, { timeout: 10_000 }).toBe('closed');
    expect(await groups.set(target({ parameters }), 'open')).toMatchObject({ result: 'accepted' });
    await expect.poll(async () => (await groups.read(target({ parameters }))).detail, { timeout: 10_000 }).toBe(before);
  });

  it('does not find it in another region, and takes that for no proof', async () => {
    const elsewhere = target({ parameters: { region: 'us-east-1' } });
    await expect(agent.read(elsewhere)).rejects.toMatchObject({
      kind: 'Misconfigured',
      message: expect.stringContaining('no proof that it is off') as string,
    });
  });

  it('deletes it once it is stopped, reads it as off, and may not start it', async () => {
    await expect(agent.remove?.(target())).rejects.toMatchObject({ kind: 'Refused' });
    await agent.set(target(), 'off');
    await expect.poll(async () => (await agent.read(target())).state, { timeout: 10_000 }).toBe('off');
    expect(await agent.removal?.(target())).toMatchObject({ isGone: false });
    expect(await agent.remove?.(target())).toMatchObject({ result: 'accepted' });
    await expect.poll(async () => (await agent.removal?.(target()))?.isGone, { timeout: 10_000 }).toBe(true);
    expect((await agent.read(target())).state).toBe('off');
  });
});
