import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { PowerAgent } from '../../src/ports/agents.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { vcenterOf, vsphereCloud } from '../../src/testbed/devices/cloud/vsphere.ts';
import { vsphere } from './definition.ts';

describe('a session of vSphere', () => {
  let cloud: CloudHarness;
  let agent: PowerAgent;
  const logins = (): number => cloud.service.requests.filter((name) => name === 'Login').length;

  beforeEach(async () => {
    cloud = await startCloudHarness(vsphereCloud);
    agent = await powerAgentIn(vsphere, environmentOf(cloud.service.variables));
  });

  afterEach(async () => {
    await agent.close?.();
    await cloud.service.close();
  });

  it('is one, whoever asks at once, and is ended with the agent', async () => {
    await Promise.all([1, 2, 3].map(() => agent.read(cloud.target())));
    expect(logins()).toBe(1);
    expect(cloud.service.leftOpen().sessions).toBe(1);
    await agent.close?.();
    expect(cloud.service.leftOpen().sessions).toBe(0);
    expect(cloud.service.requests.at(-1)).toBe('Logout');
    expect(await agent.read(cloud.target()), 'it may be used again').toMatchObject({ state: 'on' });
  });

  it('that ended in the middle of a fence is opened anew, once, and the machine is identified anew before it is switched', async () => {
    await agent.read(cloud.target());
    cloud.service.setFaults({ forgetsTokens: true });
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'on' });
    expect(logins()).toBe(2);
    cloud.service.setFaults({ failures: [{ request: 'PowerOffVM_Task', status: 500, code: 'NotAuthenticated', message: 'gone', times: 1 }] });
    const before = cloud.service.requests.length;
    expect(await agent.set(cloud.target(), 'off')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests.slice(before)).toEqual([
      'RetrievePropertiesEx',
      'PowerOffVM_Task',
      'RetrieveServiceContent',
      'Login',
      'RetrievePropertiesEx',
      'PowerOffVM_Task',
    ]);
    expect(cloud.service.instances[0]?.commands).toEqual([{ wanted: 'off' }]);
  });

  it('is not opened for ever where each is ended at once', async () => {
    cloud.service.setFaults({ failures: [{ request: 'FindAllByUuid', status: 500, code: 'NotAuthenticated', message: 'gone' }] });
    expect((await failureOf(agent.read(cloud.target()))).message).toContain('the session was ended twice');
    expect(logins()).toBe(2);
  });

  it('whose login is not taken is refused without the password', async () => {
    cloud.service.setFaults({ refusesLogin: true });
    const error = await failureOf(agent.read(cloud.target()));
    expect(error.kind).toBe('Refused');
    expect(error.message).toContain('InvalidLogin: Cannot complete login due to an incorrect user name or password.');
    expect(error.message).not.toContain(vcenterOf(cloud.service).password);
  });

  it('is not left open by a call that gave up while the login was under way', async () => {
    cloud.service.setFaults({ answerMs: 150 });
    expect((await failureOf(agent.read(cloud.target({ deadlineMs: 200 })))).kind).toBe('Timeout');
    await agent.close?.();
    expect(cloud.service.requests).toEqual(['RetrieveServiceContent', 'Login', 'Logout']);
    expect(cloud.service.leftOpen().sessions).toBe(0);
  });

  it('holds its secrets back, whatever a server says', async () => {
    const { password } = vcenterOf(cloud.service);
    cloud.service.setFaults({ failures: [{ request: 'Login', status: 500, code: 'SystemError', message: `refused ${password}` }] });
    const error = await failureOf(agent.read(cloud.target()));
    expect(error.message).toContain('SystemError: refused ***');
    expect(JSON.stringify(error)).not.toContain(password);
  });

  it('waits for a service that is too busy for a while', async () => {
    cloud.service.setFaults({ failures: [{ request: 'RetrievePropertiesEx', status: 503, code: '', message: 'busy', times: 2 }] });
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'on' });
  });

  it('is ended also where the service is too busy for the first goodbye', async () => {
    await agent.read(cloud.target());
    cloud.service.setFaults({ failures: [{ request: 'Logout', status: 503, code: '', message: 'busy', times: 1 }] });
    await agent.close?.();
    expect(cloud.service.leftOpen().sessions).toBe(0);
  });

  it('does not follow a service that sends it elsewhere', async () => {
    cloud.service.setFaults({ failures: [{ request: 'RetrieveServiceContent', status: 302, code: '', message: 'elsewhere' }] });
    expect(await failureOf(agent.read(cloud.target()))).toMatchObject({ kind: 'Misconfigured' });
  });

  it.each([
    [{ noise: true }, /no answer of the vSphere API/],
    [{ truncates: true }, /aborted|ECONNRESET|hang up/],
    [{ stalls: true }, /no complete answer within 700 ms/],
    [{ isMute: true }, /no complete answer within 700 ms/],
  ] as const)('tells nothing of a machine where the service is %j', async (faults, words) => {
    cloud.service.setFaults(faults);
    expect((await failureOf(agent.read(cloud.target({ deadlineMs: 700 })))).message).toMatch(words);
  });
});
