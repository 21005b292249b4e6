import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { AgentError, type PowerAgent } from '../../src/ports/agents.ts';
import { ACCESS_KEY, awsCloud } from '../../src/testbed/devices/cloud/aws.ts';
import { CloudServer, type CloudRequest } from '../../src/testbed/devices/cloud/cloud-server.ts';
import { environmentOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { aws } from './definition.ts';
import { foreignHost } from './parameters.ts';

const ROLE = 'arn:aws:iam::123456789012:role/fence';
const NO_METADATA = { AWS_EC2_METADATA_DISABLED: 'true' };
const TRUST = { ca: undefined, fingerprint: undefined, insecure: false, connectTimeoutMs: 1_000 };

/** What answers at link-local addresses: IMDSv2, and the agent of a container. */
async function startMetadata(answers: Readonly<Record<string, string>>): Promise<CloudServer> {
  const text = (status: number, body: string) => ({ status, headers: { 'Content-Type': 'text/plain' }, body });
  return CloudServer.start({
    host: '127.0.0.1',
    protocol: {
      nameOf: ({ method, path }) => `${method} ${path}`,
      isSet: () => false,
      failure: ({ status, message }) => text(status, message),
      tooOften: () => text(429, ''),
      answer: ({ method, path, headers }: CloudRequest) => {
        if (method === 'PUT' && path === '/latest/api/token') return text(200, 'imds-token');
        if (path.startsWith('/latest') && headers['x-aws-ec2-metadata-token'] !== 'imds-token') return text(401, '');
        if (path === '/container' && headers['authorization'] !== 'container-token') return text(401, '{}');
        const answer = answers[path];
        return answer === undefined ? text(404, '') : text(200, answer);
      },
    },
  });
}

describe('credentials of AWS', () => {
  let cloud: CloudHarness;
  let url: string;
  let secret: string;
  const agents: PowerAgent[] = [];
  const closing: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    cloud = await startCloudHarness(awsCloud);
    url = cloud.service.url;
    secret = cloud.service.variables['AWS_SECRET_ACCESS_KEY'] ?? '';
  });

  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close?.();
    for (const close of closing.splice(0)) await close();
    await cloud.service.close();
  });

  async function agentIn(variables: Record<string, string>, files: Record<string, string> = {}): Promise<PowerAgent> {
    const host = environmentOf({ AWS_ENDPOINT_URL: url, ...variables }, files);
    const created = await powerAgentIn(aws, host);
    agents.push(created);
    return created;
  }

  const region = { region: 'eu-central-1' };
  const read = async (agent: PowerAgent, parameters: Record<string, string> = region) => agent.read(cloud.target({ parameters }));
  const messageOf = async (work: Promise<unknown>): Promise<string> => {
    const error: unknown = await work.catch((thrown: unknown) => thrown);
    return error instanceof AgentError ? `${error.kind} ${error.message}` : 'no error';
  };

  it('are those of the parameters first', async () => {
    const agent = await agentIn({ AWS_ACCESS_KEY_ID: 'AKIAWRONG', AWS_SECRET_ACCESS_KEY: 'wrong' });
    expect(await read(agent, { ...region, access_key: ACCESS_KEY, secret_key: secret })).toMatchObject({ state: 'on' });
  });

  it('are those of a web identity, as EKS gives them to a service account', async () => {
    const agent = await agentIn({ ...NO_METADATA, AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: ROLE }, { '/token': 'a-web-token\n' });
    expect(await read(agent)).toMatchObject({ state: 'on' });
    expect(cloud.service.requests).toEqual(['AssumeRoleWithWebIdentity', 'DescribeInstances']);
    await read(agent);
    expect(cloud.service.requests, 'the session is kept').toHaveLength(3);
  });

  it('are renewed once in the middle of a fence when they are not taken any more', async () => {
    const agent = await agentIn({ ...NO_METADATA, AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: ROLE }, { '/token': 'a-web-token' });
    await read(agent);
    cloud.service.setFaults({ forgetsTokens: true });
    cloud.service.setFaults({});
    expect(await agent.set(cloud.target({ parameters: region }), 'off')).toMatchObject({ result: 'accepted' });
    expect(cloud.service.requests).toEqual([
      'AssumeRoleWithWebIdentity',
      'DescribeInstances',
      'DescribeInstances',
      'AssumeRoleWithWebIdentity',
      'DescribeInstances',
      'StopInstances',
    ]);
  });

  it('are read anew from the shared files where AWS does not take them any more', async () => {
    const files: Record<string, string> = {
      '/root/.aws/credentials': '[default]\naws_access_key_id = AKIAOLD0000000000000\naws_secret_access_key = old\n',
    };
    const agent = await agentIn(NO_METADATA, files);
    expect(await messageOf(read(agent))).toMatch(/^Misconfigured .*InvalidClientTokenId/u);
    files['/root/.aws/credentials'] = `[default]\naws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key = ${secret}\n`;
    expect(await read(agent)).toMatchObject({ state: 'on' });
    expect(cloud.service.requests, 'the same keys are not tried twice').toHaveLength(3);
  });

  it('are those of a profile of the shared files, with its role', async () => {
    const files = {
      '/home/x/.aws/credentials': `[default]\naws_access_key_id = AKIAWRONG\naws_secret_access_key = wrong\n[base]\naws_access_key_id=${ACCESS_KEY}\naws_secret_access_key=${secret}\n`,
      '/home/x/.aws/config': `# ours\n[profile fence]\nrole_arn = ${ROLE}\nsource_profile = base\nregion = eu-central-1\n`,
    };
    const agent = await agentIn({ ...NO_METADATA, HOME: '/home/x', AWS_PROFILE: 'fence' }, files);
    expect(await read(agent, {})).toMatchObject({ state: 'on' });
    expect(cloud.service.requests).toEqual(['AssumeRole', 'DescribeInstances']);
    expect(await read(agent, { ...region, profile: 'base' })).toMatchObject({ state: 'on' });
  });

  it('are those of a container, with its token', async () => {
    const keys = JSON.stringify({ AccessKeyId: ACCESS_KEY, SecretAccessKey: secret, Expiration: '2099-01-01T00:00:00Z' });
    const metadata = await startMetadata({ '/container': keys });
    closing.push(() => metadata.close());
    const container = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${metadata.url}/container`, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/token' };
    expect(await read(await agentIn(container, { '/token': 'container-token' }))).toMatchObject({ state: 'on' });
    expect(await messageOf(read(await agentIn(container, { '/token': 'another' })))).toMatch(/credentials of the container: HTTP 401/u);
    const elsewhere = await agentIn({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://evil.example.com/x' });
    expect(await messageOf(read(elsewhere))).toMatch(/neither https nor an address of ECS/u);
  });

  it('are those of the role of our own instance, and so is the region', async () => {
    const keys = JSON.stringify({ Code: 'Success', AccessKeyId: ACCESS_KEY, SecretAccessKey: secret, Expiration: '2099-01-01T00:00:00Z' });
    const metadata = await startMetadata({
      '/latest/meta-data/iam/security-credentials/': 'fence-role',
      '/latest/meta-data/iam/security-credentials/fence-role': keys,
      '/latest/meta-data/placement/region': 'eu-central-1',
    });
    closing.push(() => metadata.close());
    const agent = await agentIn({ AWS_EC2_METADATA_SERVICE_ENDPOINT: metadata.url });
    expect(await read(agent, {})).toMatchObject({ state: 'on' });
  });

  it('of the process are given to no host that the configuration names', async () => {
    const files = { '/token': 'a-web-token' };
    const own = { AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_ROLE_ARN: ROLE, ...NO_METADATA };
    for (const named of ['endpoint', 'sts_endpoint']) {
      const message = await messageOf(read(await agentIn(own, files), { ...region, [named]: url }));
      expect(message).toMatch(/^Misconfigured .*web identity \(not given to 127\.0\.0\.1:\d+, which the configuration names\)/u);
    }
    expect(cloud.service.requests).toEqual([]);
    const login = { access_key: ACCESS_KEY, secret_key: secret };
    expect(await read(await agentIn(own, files), { ...region, endpoint: url, ...login }), 'those of the parameters are').toMatchObject({
      state: 'on',
    });
  });

  it.each([
    ['https://vpce-0a1b.ec2.eu-central-1.vpce.amazonaws.com', undefined],
    ['https://ec2.cn-north-1.amazonaws.com.cn', undefined],
    ['https://ec2.eu-central-1.api.aws', undefined],
    ['http://ec2.eu-central-1.amazonaws.com', 'ec2.eu-central-1.amazonaws.com'],
    ['https://amazonaws.com.example.org', 'amazonaws.com.example.org'],
    ['https://notamazonaws.com', 'notamazonaws.com'],
    ['https://sts-fips.us-east-1.amazonaws.com', undefined],
    ['https://autoscaling.us-gov-west-1.amazonaws.com', undefined],
    ['https://a1b2c3.execute-api.eu-central-1.amazonaws.com', 'a1b2c3.execute-api.eu-central-1.amazonaws.com'],
    ['https://ec2-198-51-100-7.eu-central-1.compute.amazonaws.com', 'ec2-198-51-100-7.eu-central-1.compute.amazonaws.com'],
    ['https://vpce-0a1b.vpce-svc-0c1d.eu-central-1.vpce.amazonaws.com', 'vpce-0a1b.vpce-svc-0c1d.eu-central-1.vpce.amazonaws.com'],
    ['https://sts.elb.eu-central-1.amazonaws.com', 'sts.elb.eu-central-1.amazonaws.com'],
  ])('of the process go to %s, unless it is foreign: %s', (endpoint, foreign) => {
    expect(foreignHost({ endpoint, stsEndpoint: undefined, trust: TRUST })).toBe(foreign);
  });

  it.each([{ insecure: true }, { ca: 'PEM' }, { fingerprint: 'AB' }])(
    'of the process go to no host that is trusted as parameters say: %j',
    (change) => {
      const stsEndpoint = 'https://vpce-0a1b.sts.eu-central-1.vpce.amazonaws.com';
      const trust = { ...TRUST, ...change };
      expect(foreignHost({ endpoint: undefined, stsEndpoint, trust })).toBe('vpce-0a1b.sts.eu-central-1.vpce.amazonaws.com');
      expect(foreignHost({ endpoint: undefined, stsEndpoint: undefined, trust }), 'that no parameter names').toBeUndefined();
    },
  );

  it('that nobody has are told with all places where they were looked for', async () => {
    const message = await messageOf(read(await agentIn(NO_METADATA)));
    expect(message).toMatch(
      /^Misconfigured .*no credentials found: tried parameters \(no access_key\), environment \(AWS_ACCESS_KEY_ID is not set\), web identity/u,
    );
    expect(message).toMatch(/shared files \(no profile default\), container \(.*\), instance role \(AWS_EC2_METADATA_DISABLED is true\)/u);
  });

  it('that are in a way which is not known here are told so', async () => {
    const files = { '/root/.aws/config': '[default]\ncredential_process = /bin/keys\n' };
    expect(await messageOf(read(await agentIn(NO_METADATA, files)))).toContain('profile default uses credential_process, which nodefence does not');
    expect(await messageOf(read(await agentIn({ ...NO_METADATA, AWS_PROFILE: 'absent' }, files)))).toContain('there is no profile absent');
  });

  it('assume the role that a parameter names', async () => {
    const agent = await agentIn({ ...NO_METADATA, AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: secret });
    expect(await read(agent, { ...region, role_arn: ROLE, external_id: 'x' })).toMatchObject({ state: 'on' });
    expect(cloud.service.requests).toEqual(['AssumeRole', 'DescribeInstances']);
  });

  it('without a region are told where it would be looked for', async () => {
    const agent = await agentIn({
      ...NO_METADATA,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_EC2_METADATA_SERVICE_ENDPOINT: 'http://127.0.0.1:9',
    });
    expect(await messageOf(read(agent, {}))).toMatch(/no region: write region=, or set AWS_REGION/u);
  });
});
