import { afterEach, describe, expect, it } from 'vitest';

import type { AgentError, Target } from '../../src/ports/agents.ts';
import type { CloudFaults } from '../../src/testbed/devices/cloud/faults.ts';
import type { ComputeExtras } from '../../src/testbed/devices/cloud/gce-compute.ts';
import { ADDRESS, NODE, PROVIDER_ID, startedIn, type Emulated } from '../../test/agents/gce-emulated.ts';
import { failureOf } from '../../src/testbed/devices/cloud/testing.ts';

const open: Emulated[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const started = (extras?: ComputeExtras, faults?: CloudFaults): Promise<Emulated> => startedIn(open, extras, faults);

async function told(faults: CloudFaults, change: Partial<Target> = {}): Promise<AgentError> {
  const { agent, target } = await started({}, faults);
  return failureOf(agent.read(target(change)));
}

describe('a read of an instance', () => {
  it.each([
    ['RUNNING', 'on'],
    ['TERMINATED', 'off'],
    ['STOPPED', 'off'],
    ['STOPPING', 'pending'],
    ['PENDING_STOP', 'pending'],
    ['PENDING', 'pending'],
    ['PROVISIONING', 'pending'],
    ['STAGING', 'pending'],
    ['DEPROVISIONING', 'pending'],
    ['SUSPENDING', 'unknown'],
    ['SUSPENDED', 'unknown'],
    ['REPAIRING', 'unknown'],
    ['UNDEFINED_STATUS', 'unknown'],
    ['terminated', 'unknown'],
    ['TERMINATED ', 'unknown'],
    ['', 'unknown'],
    ['absent', 'unknown'],
    [null, 'unknown'],
  ] as const)('calls %j %s, and tells the word', async (shows, state) => {
    const { agent, target } = await started({}, { shows });
    const reading = await agent.read(target());
    expect(reading.state).toBe(state);
    expect(reading.detail).toContain(`status=${shows === null ? 'null' : shows.trim()}`);
  });

  it('says of a suspended instance that it is not off, and why', async () => {
    const { agent, target } = await started({}, { shows: 'SUSPENDED' });
    expect((await agent.read(target())).detail).toContain('its memory is kept, and a resume would go on to write');
  });

  it("shows the cloud's own time", async () => {
    const { agent, target } = await started({}, { aheadMs: 3_600_000 });
    const { deviceTime = '' } = await agent.read(target());
    expect(Date.parse(deviceTime) - Date.now()).toBeGreaterThan(3_500_000);
  });

  it('tells the managed instance group that may start it again, and does not ask for its metadata twice', async () => {
    const { agent, cloud, target } = await started({ managedBy: 'gke-pool-1' });
    const fields: string[] = [];
    cloud.echo(({ query }) => {
      if (query.has('fields')) fields.push(query.get('fields') ?? '');
      return undefined;
    });
    for (let read = 0; read < 2; read += 1)
      expect((await agent.read(target())).detail).toBe('status=RUNNING, managed by instance group gke-pool-1, which may recreate or restart it');
    expect(fields.map((each) => each.includes('metadata'))).toEqual([true, false]);
  });
});

describe('the identity of an instance', () => {
  it('is verified by its name in the providerID together with an address of the Node', async () => {
    const { agent, target } = await started();
    expect((await agent.read(target())).identity).toBe('verified');
  });

  it('is not verified by the name alone, for another instance may bear it by now', async () => {
    const { agent, target } = await started();
    expect((await agent.read(target({ identity: { node: NODE, providerID: PROVIDER_ID } }))).identity).toBe('unverified');
  });

  it('is verified by its numeric id together with the name', async () => {
    const { agent, cloud, target, parameters } = await started();
    const instance_id = cloud.idOf(cloud.instances[0]!);
    const reading = await agent.read(target({ parameters: { ...parameters, instance_id }, identity: { node: NODE, providerID: PROVIDER_ID } }));
    expect(reading.identity).toBe('verified');
  });

  it('is not verified where the Node has no providerID', async () => {
    const { agent, target } = await started();
    expect((await agent.read(target({ identity: { node: NODE, addresses: [ADDRESS] } }))).identity).toBe('unverified');
  });

  it('is read for a plug that is the numeric id as well', async () => {
    const { agent, cloud, target } = await started();
    const reading = await agent.read(target({ plug: cloud.idOf(cloud.instances[0]!) }));
    expect(reading).toMatchObject({ state: 'on', identity: 'verified' });
  });

  it('is that of another machine where the providerID names another name, zone or project', async () => {
    const { agent, target } = await started();
    for (const providerID of [
      'gce://nodefence-emulated/europe-west3-a/worker-2',
      'gce://nodefence-emulated/europe-west3-b/worker-1',
      'gce://other/europe-west3-a/worker-1',
    ]) {
      const error = await failureOf(agent.read(target({ identity: { node: NODE, providerID, addresses: [ADDRESS] } })));
      expect(error.kind).toBe('Misconfigured');
      expect(error.message).toContain(`is another machine: the node's providerID is ${providerID}`);
    }
  });

  it('cannot be compared where one side has the number of the project and the other its id', async () => {
    const { agent, target } = await started();
    const identity = { node: NODE, providerID: `gce://123456/europe-west3-a/${NODE}`, addresses: [ADDRESS] };
    expect((await agent.read(target({ identity }))).identity).toBe('unverified');
  });

  it('is that of another machine where the instance was replaced under the same name: by its address', async () => {
    const error = await told({ isReplaced: true });
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toMatch(/is another machine: its addresses are 192\.0\.2\.250, the node's 192\.0\.2\.11/u);
  });

  it('is that of another machine where the instance was replaced under the same name: by its id', async () => {
    const { agent, cloud, target, parameters } = await started();
    const id = cloud.idOf(cloud.instances[0]!);
    cloud.setFaults({ isReplaced: true });
    const own = { ...parameters, instance_id: id };
    const error = await failureOf(agent.read(target({ parameters: own, identity: { node: NODE, providerID: PROVIDER_ID } })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toMatch(new RegExp(`its id is \\d+, not ${id}`, 'u'));
  });

  it('is that of another machine where the instance is replaced in mid-fence, whatever else looks the same', async () => {
    const { agent, cloud, target } = await started();
    const asked = { incident: 'uid/1', identity: { node: NODE, providerID: PROVIDER_ID } };
    expect((await agent.read(target(asked))).state).toBe('on');
    cloud.setFaults({ isReplaced: true });
    const error = await failureOf(agent.read(target(asked)));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('it was replaced during this fence');
    expect((await agent.read(target({ ...asked, incident: 'uid/2' }))).state).toBe('on');
  });

  it('may be another one once the first was off, for groups recreate what is stopped', async () => {
    const { agent, cloud, machine, target } = await started();
    const asked = { incident: 'uid/1', identity: { node: NODE, providerID: PROVIDER_ID } };
    machine.off('set');
    expect((await agent.read(target(asked))).state).toBe('off');
    machine.on('set');
    cloud.setFaults({ isReplaced: true });
    expect((await agent.read(target(asked))).state).toBe('on');
  });
});

describe('an instance that is not found', () => {
  it.each([
    [
      'of another name',
      { plug: 'worker-9' },
      /HTTP 404 notFound: The resource .*worker-9' was not found: what is not found is not known to be off/u,
      'Misconfigured',
    ],
    ['in another zone', { zone: 'europe-west3-b' }, /HTTP 404 notFound/u, 'Misconfigured'],
    ['in another project', { project: 'somebody-elses' }, /HTTP 403 forbidden: Required 'compute\.instances\.get'/u, 'Refused'],
  ])('%s is never off', async (_what, { plug = NODE, ...other }: { plug?: string; zone?: string; project?: string }, words, kind) => {
    const { agent, target, parameters } = await started();
    const error = await failureOf(agent.read(target({ plug, parameters: { ...parameters, ...other }, identity: { node: NODE } })));
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(words);
  });
});

describe('a cloud in trouble', () => {
  it.each<[string, CloudFaults, AgentError['kind'], RegExp]>([
    ['speaks noise', { noise: true }, 'Unreachable', /no JSON|no token/u],
    ['cuts its answers', { truncates: true }, 'Unreachable', /aborted|ECONNRESET/u],
    ['is mute', { isMute: true }, 'Timeout', /no complete answer within 600 ms/u],
    ['stops in the middle of an answer', { stalls: true }, 'Timeout', /no complete answer within 600 ms/u],
    [
      'is broken',
      { failures: [{ request: 'GET instance', status: 503, code: 'backendError', message: 'Backend Error' }] },
      'Unreachable',
      /HTTP 503 backendError: Backend Error/u,
    ],
    ['answers with an empty object', { failures: [{ request: 'GET instance', status: 200, code: '', message: '' }] }, 'Unreachable', /no instance/u],
    [
      'forbids it',
      { failures: [{ request: 'GET instance', status: 403, code: 'forbidden', message: 'no right' }] },
      'Refused',
      /HTTP 403 forbidden: no right/u,
    ],
  ])('that %s is told in its words, as %s', async (_what, faults, kind, words) => {
    const error = await told(faults, { deadlineMs: 600 });
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(words);
  });

  it.each([
    [403, 'rateLimitExceeded'],
    [403, 'quotaExceeded'],
    [429, 'rateLimitExceeded'],
  ])('that is asked too often (%i %s) is asked again a little later', async (status, code) => {
    const { agent, target } = await started({}, { failures: [{ request: 'GET instance', status, code, message: 'Quota exceeded', times: 2 }] });
    expect((await agent.read(target())).state).toBe('on');
  });

  it('that is asked too often for all of the call is no refusal: the fence goes on to try', async () => {
    const faults = { failures: [{ request: 'GET instance', status: 403, code: 'rateLimitExceeded', message: 'Quota exceeded' }] };
    const error = await told(faults, { deadlineMs: 900 });
    expect(error.kind).toBe('Unreachable');
    expect(error.message).toContain('HTTP 403 rateLimitExceeded: Quota exceeded');
  });
});

describe('a probe', () => {
  it('names the permissions that are missing, and changes nothing', async () => {
    const { agent, cloud, target } = await started({ denied: ['compute.instances.stop'] });
    const reading = await agent.read(target({ isProbe: true }));
    expect(reading.wouldRefuse).toBe('the account lacks compute.instances.stop on the instance');
    expect(cloud.instances[0]?.commands).toEqual([]);
  });

  it('says nothing where all are there, and a read in a fence does not ask', async () => {
    const { agent, cloud, target } = await started();
    expect(await agent.read(target({ isProbe: true }))).not.toHaveProperty('wouldRefuse');
    await agent.read(target());
    expect(cloud.requests.filter((name) => name === 'POST testIamPermissions')).toHaveLength(1);
  });
});

describe('a list of instances', () => {
  it('has their names, ids and states', async () => {
    const { agent, cloud, target } = await started();
    expect(await agent.list(target({ plug: '' }))).toEqual([{ plug: NODE, alias: cloud.idOf(cloud.instances[0]!), state: 'on' }]);
  });
});
