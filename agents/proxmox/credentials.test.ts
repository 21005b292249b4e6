import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { PowerAgent, Target } from '../../src/ports/agents.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { proxmoxCloud, pveOf, TOKEN_ID, USER } from '../../src/testbed/devices/cloud/proxmox.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { proxmox } from './definition.ts';

/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9';

describe('credentials of proxmox', () => {
  let cloud: CloudHarness;
  const agents: PowerAgent[] = [];
  const agentIn = async (variables: Record<string, string>, files: Record<string, string> = {}): Promise<PowerAgent> => {
    const agent = await powerAgentIn(proxmox, environmentOf(variables, files));
    agents.push(agent);
    return agent;
  };
  const secret = (): string => pveOf(cloud.service).tokenSecret;
  const password = (): string => pveOf(cloud.service).password;
  const withPassword = (): Target => cloud.target({ parameters: { ip: cloud.service.url, login: USER, passwd: password() } });

  beforeEach(async () => {
    cloud = await startCloudHarness(proxmoxCloud);
  });

  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close?.();
    await cloud.service.close();
  });

  it.each<[string, () => Record<string, string>]>([
    ['a token', () => ({ api_token: `${TOKEN_ID}=${secret()}` })],
    ['a token in two parts', () => ({ token_id: TOKEN_ID, token_secret: secret() })],
    ['a password', () => ({ username: USER, password: password() })],
    ['a password of root@pam, whom fence_pve means without a name', () => ({ password: password() })],
  ])('of the parameters go first: %s', async (_name, parameters) => {
    const agent = await agentIn({ PROXMOX_VE_ENDPOINT: NOWHERE, PROXMOX_VE_API_TOKEN: `${TOKEN_ID}=wrong` });
    const target = cloud.target({ parameters: { endpoint: cloud.service.url, ...parameters() } });
    expect(await agent.read(target)).toMatchObject({ state: 'on', identity: 'verified' });
    expect(await agent.set(target, 'off')).toMatchObject({ result: 'accepted' });
  });

  it.each<[string, () => Record<string, string>]>([
    ["of Terraform's provider", () => ({ PROXMOX_VE_ENDPOINT: cloud.service.url, PROXMOX_VE_API_TOKEN: `${TOKEN_ID}=${secret()}` })],
    [
      "of Terraform's provider with a password",
      () => ({ PROXMOX_VE_ENDPOINT: cloud.service.url, PROXMOX_VE_USERNAME: USER, PROXMOX_VE_PASSWORD: password() }),
    ],
    ['of Cluster API', () => ({ PROXMOX_URL: `${cloud.service.url}/api2/json`, PROXMOX_TOKEN: TOKEN_ID, PROXMOX_SECRET: secret() })],
  ])('are those of the environment %s', async (_name, variables) => {
    expect(await (await agentIn(variables())).read(cloud.target())).toMatchObject({ state: 'on' });
  });

  it('are those of the cloud controller manager, of the cluster that the providerID names', async () => {
    const clusters = [
      { url: NOWHERE, token_id: TOKEN_ID, token_secret: 'x', region: 'other' },
      { url: `${cloud.service.url}/api2/json`, insecure: true, token_id_file: '/id', token_secret_file: '/secret', region: 'emulated' },
    ];
    const files = { '/etc/proxmox/config.yaml': JSON.stringify({ clusters }), '/id': `${TOKEN_ID}\n`, '/secret': `${secret()}\n` };
    const agent = await agentIn({}, files);
    expect(await agent.read(cloud.target({ parameters: { region: 'emulated' } }))).toMatchObject({ state: 'on' });
    expect((await failureOf(agent.read(cloud.target()))).message).toContain('names 2 clusters (other, emulated): say with region=');
    expect((await failureOf(agent.read(cloud.target({ parameters: { region: 'third' } })))).message).toContain('names other, emulated only');
  });

  it('of the process go to no host that its own place does not name', async () => {
    const files = { '/etc/proxmox/config.yaml': `clusters: [{url: "${NOWHERE}", token_id: ${TOKEN_ID}, token_secret: s, region: r}]` };
    const variables = {
      PROXMOX_VE_ENDPOINT: NOWHERE,
      PROXMOX_VE_API_TOKEN: `${TOKEN_ID}=s`,
      PROXMOX_URL: NOWHERE,
      PROXMOX_TOKEN: TOKEN_ID,
      PROXMOX_SECRET: 's',
    };
    const error = await failureOf((await agentIn(variables, files)).read(cloud.target({ parameters: { endpoint: cloud.service.url } })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toMatch(/PROXMOX_VE_ENDPOINT names 127\.0\.0\.1:9.*PROXMOX_URL names 127\.0\.0\.1:9.*config\.yaml names r only/);
    expect(cloud.service.requests).toEqual([]);
  });

  it('that nobody has are told with all places where they were looked for', async () => {
    expect((await failureOf((await agentIn({ PROXMOX_VE_ENDPOINT: NOWHERE })).read(cloud.target()))).message).toMatch(
      /tried parameters \(neither api_token.*\), environment PROXMOX_VE_\* \(PROXMOX_VE_API_TOKEN, or .* is not set\), environment PROXMOX_URL \(PROXMOX_URL is not set\), configuration .* \(there is no \/etc\/proxmox\/config\.yaml\)/u,
    );
  });

  it('that a file does not hold are no configuration, in words without its text', async () => {
    const agent = await agentIn({ NODEFENCE_PROXMOX_CONFIG: '/other' }, { '/other': 'clusters: {token_secret: very-secret' });
    const error = await failureOf(agent.read(cloud.target()));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('/other is no configuration')]);
    expect(error.message).not.toContain('very-secret');
  });

  it('of a ticket that is not taken any more in the middle of a fence are a new ticket, once', async () => {
    const agent = await agentIn({});
    await agent.read(withPassword());
    cloud.service.setFaults({ forgetsTokens: true });
    expect(await agent.set(withPassword(), 'off')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests.filter((name) => name === 'POST access/ticket')).toHaveLength(2);
    cloud.service.setFaults({ refusesLogin: true, forgetsTokens: true });
    expect(await failureOf(agent.read(withPassword()))).toMatchObject({ kind: 'Misconfigured' });
  });

  it('that are not taken any more are looked for again: a mounted Secret may hold others by then', async () => {
    const files: Record<string, string> = { '/id': TOKEN_ID, '/secret': 'an-old-one' };
    files['/etc/proxmox/config.yaml'] = `clusters: [{url: "${cloud.service.url}", token_id_file: /id, token_secret_file: /secret, region: r}]`;
    const agent = await agentIn({}, files);
    expect(await failureOf(agent.read(cloud.target()))).toMatchObject({ kind: 'Misconfigured' });
    files['/secret'] = secret();
    expect(await agent.read(cloud.target())).toMatchObject({ state: 'on' });
  });

  it('of a user with a second factor are refused in words', async () => {
    pveOf(cloud.service).oddities = { needsSecondFactor: true };
    const error = await failureOf((await agentIn({})).read(withPassword()));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.stringContaining('has a second factor')]);
  });

  it('stand in no error', async () => {
    const errors: string[] = [];
    for (const fault of [{ refusesLogin: true }, { noise: true }, { truncates: true }, { stalls: true }, { isMute: true }] as const) {
      for (const auth of [
        { username: USER, password: password() },
        { token_id: TOKEN_ID, token_secret: secret() },
      ]) {
        cloud.service.setFaults({ ...fault, forgetsTokens: true });
        const target = cloud.target({ deadlineMs: 400, parameters: { endpoint: cloud.service.url, ...auth } });
        errors.push((await failureOf((await agentIn({})).read(target))).message);
      }
    }
    expect(errors).toHaveLength(10);
    expect(errors.join('\n')).not.toContain(secret());
    expect(errors.join('\n')).not.toContain(password());
  });

  it('go to no host whose certificate nobody trusts, whatever an insecure flag says elsewhere', async () => {
    const certificate = createAuthority('nobody').issue({ commonName: 'pve1', hosts: ['127.0.0.1'] });
    const secure = await startCloudHarness(proxmoxCloud, { certificate });
    const agent = await agentIn({ ...secure.service.variables, PROXMOX_VE_INSECURE: 'true' });
    const error = await failureOf(agent.read(secure.target()));
    expect([error.kind, error.message]).toEqual([
      'Misconfigured',
      expect.stringMatching(/not trusted: .*the insecure flag of PROXMOX_VE_ENDPOINT is not followed/),
    ]);
    expect(secure.service.requests).toEqual([]);
    expect(await agent.read(secure.target({ parameters: { ssl_insecure: 'yes' } }))).toMatchObject({ state: 'on' });
    await secure.service.close();
  });
});

describe('several hosts of one cluster', () => {
  let cloud: CloudHarness;
  let other: CloudHarness;
  let agent: PowerAgent;

  beforeEach(async () => {
    [cloud, other] = await Promise.all([startCloudHarness(proxmoxCloud), startCloudHarness(proxmoxCloud)]);
    agent = await powerAgentIn(proxmox, environmentOf({}));
  });

  afterEach(async () => {
    await agent.close?.();
    await Promise.all([cloud.service.close(), other.service.close()]);
  });

  const through = (...urls: string[]): Target =>
    cloud.target({ parameters: { endpoint: urls.join(', '), username: USER, password: pveOf(cloud.service).password } });

  it('are asked in turn for a read, where one is away or does not answer', async () => {
    other.service.setFaults({ isMute: true });
    expect(await agent.read(through(NOWHERE, other.service.url, cloud.service.url))).toMatchObject({ state: 'on', identity: 'verified' });
    const before = other.service.requests.length;
    expect(await agent.set(through(NOWHERE, other.service.url, cloud.service.url), 'off')).toMatchObject({ result: 'accepted' });
    expect(other.service.requests.length, 'the one that answered is asked first').toBe(before);
  });

  it('get no set a second time, whatever became of the first', async () => {
    await agent.read(through(cloud.service.url, other.service.url));
    cloud.service.setFaults({ failures: [{ request: 'POST stop', status: 596, code: '', message: 'Connection timed out' }] });
    expect(await agent.set(through(cloud.service.url, other.service.url), 'off')).toMatchObject({ result: 'unclear' });
    expect([...cloud.service.requests, ...other.service.requests].filter((name) => name === 'POST stop')).toHaveLength(1);
  });

  it('that all are away are told as the last one failed', async () => {
    expect(await failureOf(agent.read(through(NOWHERE, 'http://127.0.0.1:10')))).toMatchObject({ kind: 'Unreachable' });
  });
});
