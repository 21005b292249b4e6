import { generateKeyPairSync } from 'node:crypto';

import { afterEach, describe, expect, it } from 'vitest';

import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { GceService } from '../../src/testbed/devices/cloud/gce.ts';
import { emulated, hostOf, type Emulated } from '../../test/agents/gce-emulated.ts';
import { failureOf } from '../../src/testbed/devices/cloud/testing.ts';

const ADC = '/home/fence/.config/gcloud/application_default_credentials.json';
const open: Emulated[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** An agent that finds the cloud by its environment, and its credentials as `host` says. */
async function found(host: (cloud: GceService) => { variables?: Record<string, string>; files?: Record<string, string> }): Promise<Emulated> {
  const one = await emulated({}, (cloud): HostEnvironment => {
    const { variables = {}, files = {} } = host(cloud);
    const { CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: endpoint = '' } = cloud.variables;
    return hostOf({ CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: endpoint, NO_GCE_CHECK: 'true', ...variables }, files);
  });
  open.push(one);
  return one;
}

async function given(serviceaccount: (cloud: GceService) => string): Promise<{ one: Emulated; read: () => Promise<unknown> }> {
  const one = await emulated();
  open.push(one);
  const parameters = { ...one.parameters, serviceaccount: serviceaccount(one.cloud) };
  return { one, read: () => one.agent.read(one.target({ parameters })) };
}

function inEnvironment(text: (cloud: GceService) => string, more: Record<string, string> = {}): Promise<Emulated> {
  return found((cloud) => ({ variables: { GOOGLE_APPLICATION_CREDENTIALS: '/creds.json' }, files: { '/creds.json': text(cloud), ...more } }));
}

describe('credentials are found', () => {
  it.each<[string, () => Promise<Emulated>, string[]]>([
    [
      'as the key of a service account in GOOGLE_APPLICATION_CREDENTIALS',
      () => inEnvironment(({ credentials }) => credentials.serviceAccount),
      ['POST token'],
    ],
    ["as a person's refresh token", () => inEnvironment(({ credentials }) => credentials.authorizedUser), ['POST token']],
    [
      'by workload identity federation, from a file',
      () => inEnvironment(({ credentials }) => credentials.externalFile('/token', false), { '/token': 'a token of another identity provider\n' }),
      ['POST sts'],
    ],
    [
      'by workload identity federation, as a service account',
      () => inEnvironment(({ credentials }) => credentials.externalFile('/token', true), { '/token': 'a token of another identity provider' }),
      ['POST sts', 'POST generateAccessToken'],
    ],
    ['by workload identity federation, from a URL', () => inEnvironment(({ credentials }) => credentials.externalURL), ['GET subject', 'POST sts']],
    ['by impersonation', () => inEnvironment(({ credentials }) => credentials.impersonated), ['POST token', 'POST generateAccessToken']],
    [
      'where gcloud keeps them',
      () => found(({ credentials }) => ({ variables: { HOME: '/home/fence' }, files: { [ADC]: credentials.authorizedUser } })),
      ['POST token'],
    ],
    [
      'where CLOUDSDK_CONFIG says that gcloud keeps them',
      () =>
        found(({ credentials }) => ({
          variables: { HOME: '/home/fence', CLOUDSDK_CONFIG: '/gcloud' },
          files: { '/gcloud/application_default_credentials.json': credentials.serviceAccount },
        })),
      ['POST token'],
    ],
    ['at the metadata server', () => found(({ variables }) => ({ variables: { ...variables, NO_GCE_CHECK: '' } })), ['GET metadata token']],
  ])('%s', async (_where, open, requests) => {
    const { agent, cloud, target } = await open();
    expect((await agent.read(target())).state).toBe('on');
    expect(cloud.requests.slice(0, -1)).toEqual(requests);
    expect(cloud.requests.at(-1)).toBe('GET instance');
  });

  it('in the order of Google, the first that is there', async () => {
    const { agent, cloud, target } = await found(({ credentials, variables }) => ({
      variables: { ...variables, GOOGLE_APPLICATION_CREDENTIALS: '/creds.json', HOME: '/home/fence', NO_GCE_CHECK: '' },
      files: { '/creds.json': credentials.externalURL, [ADC]: credentials.authorizedUser },
    }));
    await agent.read(target());
    expect(cloud.requests).toEqual(['GET subject', 'POST sts', 'GET instance']);
  });

  it('in the file that serviceaccount names', async () => {
    const { agent, target, parameters } = await found(({ credentials }) => ({ files: { '/key.json': credentials.serviceAccount } }));
    expect((await agent.read(target({ parameters: { ...parameters, serviceaccount: '/key.json' } }))).state).toBe('on');
  });
});

describe('credentials that are not there', () => {
  it('are told with every place that was looked at', async () => {
    const { agent, target } = await found(() => ({ variables: { HOME: '/home/fence' } }));
    const error = await failureOf(agent.read(target()));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain(
      `no credentials found: tried environment (GOOGLE_APPLICATION_CREDENTIALS is not set), gcloud (there is no ${ADC}), metadata server (NO_GCE_CHECK is true)`,
    );
  });

  it.each<[string, Record<string, string>, Record<string, string>, RegExp]>([
    [
      'a file that is not there',
      { GOOGLE_APPLICATION_CREDENTIALS: '/gone.json' },
      {},
      /GOOGLE_APPLICATION_CREDENTIALS: there is no file \/gone\.json/u,
    ],
    ['a file that is no JSON', { GOOGLE_APPLICATION_CREDENTIALS: '/a' }, { '/a': 'secret words' }, /it is no JSON of a credential file/u],
    [
      'a file of another type',
      { GOOGLE_APPLICATION_CREDENTIALS: '/a' },
      { '/a': '{"type":"gdch_service_account"}' },
      /its type must be service_account, /u,
    ],
    [
      'a key that is none',
      { GOOGLE_APPLICATION_CREDENTIALS: '/a' },
      { '/a': '{"type":"service_account","client_email":"a@b","private_key":"x"}' },
      /its private_key is no RSA key/u,
    ],
  ])('are not looked for elsewhere where they are named: %s', async (_what, variables, files, words) => {
    const { agent, target } = await found((cloud) => ({ variables: { ...cloud.variables, ...variables, NO_GCE_CHECK: '' }, files }));
    const error = await failureOf(agent.read(target()));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toMatch(words);
    expect(error.message).not.toContain('secret words');
  });

  it('are only away where the metadata server has to be there', async () => {
    const { agent, target } = await found(() => ({ variables: { NO_GCE_CHECK: '', GCE_METADATA_HOST: '127.0.0.1:9' } }));
    const error = await failureOf(agent.read(target()));
    expect(error.kind).toBe('Unreachable');
    expect(error.message).toContain('metadata server 127.0.0.1:9: ');
  });

  it('are not taken from what only looks like the metadata server', async () => {
    // The API's endpoint answers the same path without the flavor of a metadata server.
    const one = await found(({ url, variables }) => ({ variables: { ...variables, GCE_METADATA_HOST: new URL(url).host, NO_GCE_CHECK: '' } }));
    one.cloud.setFaults({ failures: [{ request: 'GET metadata token', status: 200, code: '', message: '' }] });
    const error = await failureOf(one.agent.read(one.target()));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('metadata server (what answers there is no metadata server of Google)');
  });
});

describe('credentials of a method', () => {
  it('are signed anew by the clock of the cloud where ours is wrong', async () => {
    const { one, read } = await given(({ credentials }) => credentials.serviceAccount);
    one.cloud.setFaults({ aheadMs: -7_200_000 });
    expect(await read()).toMatchObject({ state: 'on' });
    expect(one.cloud.requests).toEqual(['POST token', 'POST token', 'GET instance']);
  });

  it('of another key are refused in the words of the endpoint, and nothing of them is told', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const { read } = await given(({ credentials }) => JSON.stringify({ ...(JSON.parse(credentials.serviceAccount) as object), private_key: pem }));
    const error = await failureOf(read());
    expect(error.kind).toBe('Refused');
    expect(error.message).toMatch(/token endpoint .*: HTTP 400: invalid_grant: Invalid JWT Signature\./u);
    expect(error.message).not.toContain(pem.slice(40, 80));
  });

  it('lead files and tokens of this process to nobody but Google', async () => {
    const { one, read } = await given(({ credentials }) => credentials.externalFile('/var/run/secrets/kubernetes.io/serviceaccount/token', false));
    expect((await failureOf(read())).message).toContain('endpoint is no host of googleapis.com');
    const { serviceaccount: _own, endpoint: _there, ...place } = one.parameters;
    const parameters = { ...place, serviceaccount: one.cloud.credentials.externalFile('/token', false) };
    const error = await failureOf(one.agent.read(one.target({ parameters })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('its token_url must be of googleapis.com');
    expect(one.cloud.requests).toEqual([]);
  });

  it('of the process are not sent to an endpoint that a method names', async () => {
    const one = await found(({ variables }) => ({ variables: { ...variables, NO_GCE_CHECK: '' } }));
    const error = await failureOf(one.agent.read(one.target({ parameters: { ...one.parameters, endpoint: one.cloud.url } })));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('no credentials of this process are sent there');
    expect(one.cloud.requests).toEqual([]);
  });
});

describe('no message', () => {
  it.each(['a token', 'a signature', 'a refresh token'])('tells %s that an endpoint shows again', async (what) => {
    const one = await inEnvironment(({ credentials }) => (what === 'a refresh token' ? credentials.authorizedUser : credentials.serviceAccount));
    const isToken = what === 'a token';
    const seen: string[] = [];
    // What it was sent comes back as its message.
    one.cloud.echo((request) => {
      const secret = isToken
        ? (request.headers['authorization'] ?? '').replace('Bearer ', '')
        : (new URLSearchParams(request.body).get(what === 'a signature' ? 'assertion' : 'refresh_token') ?? '');
      if (secret === '' || isToken !== request.path.startsWith('/compute/')) return undefined;
      seen.push(secret);
      return { status: 400, body: JSON.stringify({ error: { code: 400, message: `you sent ${secret}` } }) };
    });
    const error = await failureOf(one.agent.read(one.target()));
    expect(seen).not.toEqual([]);
    expect(error.message).toContain('you sent ***');
    for (const secret of seen) expect(error.message).not.toContain(secret);
  });
});
