import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { APPLICATION_CREDENTIAL, PROJECT, REGION, USER, USER_ID } from '../../src/testbed/devices/cloud/keystone.ts';
import { openstack } from './definition.ts';
import { failureOf } from '../../src/testbed/devices/cloud/testing.ts';
import { startBench, type Bench } from '../../test/agents/openstack-emulated.ts';

let bench: Bench;
const url = (): string => `${bench.service.url}/identity`;
const password = (): string => bench.service.keystone.password;
const secret = (): string => bench.service.keystone.secret;

async function stateIn(
  variables: Record<string, string>,
  files: Record<string, string> = {},
  parameters: Record<string, string> = {},
): Promise<string> {
  const agent = await bench.agentIn(variables, files);
  return (await agent.read(bench.target({ parameters }))).state;
}

async function refusedIn(
  variables: Record<string, string>,
  files: Record<string, string> = {},
  parameters: Record<string, string> = {},
): Promise<string> {
  const agent = await bench.agentIn(variables, files);
  const { kind, message } = await failureOf(agent.read(bench.target({ parameters })));
  return `${kind}: ${message}`;
}

const clouds = (more = ''): string => `
clouds:
  production:
    auth:
      auth_url: ${url()}/v3
      username: ${USER}
      password: ${password()}
      project_name: ${PROJECT}
      user_domain_name: Default
      project_domain_name: Default
    region_name: ${REGION}
${more}`;

beforeEach(async () => {
  bench = await startBench();
});

afterEach(() => bench.close());

describe('credentials of OpenStack', () => {
  it('are those of the parameters first, by the names of fence_openstack', async () => {
    const parameters = { auth_url: url(), login: USER, passwd: password(), project_name: PROJECT };
    const named = { ...parameters, user_domain_name: 'Default', project_domain_name: 'Default', cacert: '' };
    expect(await stateIn({ ...bench.service.variables, OS_PASSWORD: 'wrong' }, {}, named)).toBe('on');
  });

  it.each([
    ['its id', { application_credential_id: APPLICATION_CREDENTIAL }],
    ['its name and user', { application_credential_name: 'nodefence', username: USER }],
    ['its name and the id of the user', { application_credential_name: 'nodefence', user_id: USER_ID }],
  ])('may be an application credential by %s', async (_by, named) => {
    expect(await stateIn({}, {}, { auth_url: url(), application_credential_secret: secret(), ...named })).toBe('on');
  });

  it('are those of the environment, with or without the version in the auth URL', async () => {
    expect(await stateIn({ ...bench.service.variables, OS_AUTH_URL: `${url()}/v2.0/` })).toBe('on');
    expect(
      await stateIn({ OS_AUTH_URL: url(), OS_APPLICATION_CREDENTIAL_ID: APPLICATION_CREDENTIAL, OS_APPLICATION_CREDENTIAL_SECRET: secret() }),
    ).toBe('on');
  });

  it.each([
    ['cloud=', { HOME: '/root' }, '/root/.config/openstack/clouds.yaml', { cloud: 'production' }],
    ['OS_CLOUD', { OS_CLOUD: 'production', OS_CLIENT_CONFIG_FILE: '/secret/clouds' }, '/secret/clouds', {}],
    ['being the only one', {}, '/etc/openstack/clouds.yaml', {}],
  ])('are those of a cloud in clouds.yaml by %s', async (_by, variables, path, parameters) => {
    const others = path.startsWith('/etc') ? '' : '  other: { auth: { auth_url: "http://127.0.0.1:9" } }\n';
    expect(await stateIn(variables, { [path]: clouds(others) }, parameters)).toBe('on');
  });

  it('have their secret in secure.yaml beside it', async () => {
    const open = clouds().replace(password(), 'wrong');
    const secure = `clouds: { production: { auth: { password: ${password()} } } }`;
    expect(await stateIn({}, { '/etc/openstack/clouds.yaml': open, '/etc/openstack/secure.yaml': secure })).toBe('on');
  });

  it('are those of an openrc file, of which nothing is run', async () => {
    const text = `
      #!/usr/bin/env bash
      unset OS_TENANT_ID
      export OS_AUTH_URL=${url()}
      export OS_USERNAME="${USER}" # the user
      export OS_PASSWORD='${password()}'
      OS_PROJECT_NAME=${PROJECT}
      export OS_REGION_NAME="$(touch /tmp/never)"
      export OS_USER_DOMAIN_NAME=Default`;
    expect(await stateIn({}, { '/openrc': text }, { openrc: '/openrc' })).toBe('on');
    const asked = text.replace(`'${password()}'`, '$OS_PASSWORD_INPUT');
    expect(await refusedIn({}, { '/openrc': asked }, { openrc: '/openrc' })).toContain('openrc /openrc (no password and no application credential)');
  });

  it('are those of cloud.conf of the cloud controller, where it is mounted', async () => {
    const text = `
[Global]
auth-url = "${url()}"
application-credential-id=${APPLICATION_CREDENTIAL}
application-credential-secret="${secret()}"
region=${REGION}
[LoadBalancer]
application-credential-id=another
`;
    expect(await stateIn({}, { '/etc/config/cloud.conf': text })).toBe('on');
    const byUser = `[Global]\nauth-url=${url()}\nusername=${USER}\npassword=${password()}\ntenant-name=${PROJECT}\ndomain-name=Default\n`;
    expect(await stateIn({}, { '/etc/config/cloud.conf': byUser })).toBe('on');
  });

  it('that nobody has are told with all places where they were looked for', async () => {
    expect(await refusedIn({ OS_AUTH_URL: url(), OS_PASSWORD: 'x' })).toMatch(
      /Misconfigured.*tried parameters \(no password.*\), environment \(no user\), clouds\.yaml \(none of \/etc\/openstack\/clouds\.yaml, .* is there\), \/etc\/config\/cloud\.conf \(there is none\)/u,
    );
  });

  it('that the cloud refuses are told by where they are from, and not by what they are', async () => {
    const words = await refusedIn({ ...bench.service.variables, OS_PASSWORD: 'not-the-password' });
    expect(words).toMatch(/Misconfigured.*Keystone refuses the credentials of environment: HTTP 401: Unauthorized/u);
    expect(words).not.toContain('not-the-password');
  });

  it('of this process are sent to no address that stands beside a method', async () => {
    const words = await refusedIn(bench.service.variables, {}, { auth_url: 'http://127.0.0.1:9/v3' });
    expect(words).toContain('environment (its auth URL is another one than auth_url)');
    expect(bench.service.requests).toEqual([]);
    expect(await stateIn(bench.service.variables, {}, { auth_url: `${url()}/v3` })).toBe('on');
  });

  it('are looked for nowhere else than where the parameters say', async () => {
    expect(await refusedIn(bench.service.variables, {}, { cloud: 'production' })).toMatch(/tried clouds\.yaml \(none of .* is there\)$/u);
    expect(await refusedIn(bench.service.variables, {}, { openrc: '/none' })).toMatch(/tried openrc \/none \(there is none\)$/u);
  });

  it('in a file that is no YAML are not shown with the line that is wrong', async () => {
    const words = await refusedIn({}, { '/etc/openstack/clouds.yaml': `clouds:\n  a: {\n    password: "${password()}` });
    expect(words).toMatch(/Misconfigured.*\/etc\/openstack\/clouds\.yaml is no YAML \(line \d+\)/u);
    expect(words).not.toContain(password());
  });

  it.each([
    ['several clouds and no name', 'clouds: { a: {}, b: {} }', 'has 2 clouds, and none is named'],
    ['a cloud of a profile', 'clouds: { a: { profile: vexxhost } }', 'profile= of cloud a is not supported'],
  ])('in clouds.yaml with %s are told as missing', async (_what, text, words) => {
    expect(await refusedIn({}, { '/etc/openstack/clouds.yaml': text })).toContain(words);
  });
});

describe('the catalog', () => {
  it('is read for the region that is asked for', async () => {
    Object.assign(bench.service.oddities, { regions: ['RegionTwo'] });
    expect(await refusedIn(bench.service.variables)).toContain('has the regions RegionTwo, RegionOne: write region=');
    expect(await stateIn(bench.service.variables, {}, { region: REGION })).toBe('on');
    expect(await stateIn({ ...bench.service.variables, OS_REGION_NAME: REGION, OS_ENDPOINT_TYPE: 'internalURL' })).toBe('on');
    expect(await refusedIn(bench.service.variables, {}, { region: 'RegionThree' })).toContain('has no region RegionThree, only RegionTwo, RegionOne');
  });

  it('without a compute service is a wrong project', async () => {
    Object.assign(bench.service.oddities, { lacksCompute: true });
    expect(await refusedIn(bench.service.variables)).toMatch(/Misconfigured.*has no compute service/u);
  });
});

describe('a probe', () => {
  it('tells when the application credential ends', async () => {
    Object.assign(bench.service.oddities, { applicationCredentialExpiresAt: '2027-01-02T03:04:05.000000' });
    const parameters = { auth_url: url(), application_credential_id: APPLICATION_CREDENTIAL, application_credential_secret: secret() };
    const { credentialExpiresAt } = await (await bench.agentIn({})).read(bench.target({ isProbe: true, parameters }));
    expect(credentialExpiresAt).toBe('2027-01-02T03:04:05.000Z');
  });
});

describe('parameters', () => {
  it.each([
    [{ password: 'x' }, ['username', 'auth_url', 'project_name']],
    [{ username: 'x', auth_url: 'https://k' }, ['password']],
    [{ application_credential_secret: 'x', auth_url: 'https://k' }, ['application_credential_id']],
    [{ auth_url: 'keystone' }, ['auth_url']],
    [{ auth_url: 'https://user:word@k/v3' }, ['auth_url']],
    [{ ca: 'relative.pem' }, ['ca']],
    [{ interface: 'publicURL' }, ['interface']],
    [{ auth_url: 'https://k:5000/v3', project_name: 'p', user_domain_name: 'Default', project_domain_name: 'Default' }, []],
    [{}, []],
  ])('%j have the problems %j', (parameters, problems) => {
    expect(openstack.check(parameters, true).map(({ parameter }) => parameter)).toEqual(problems);
  });

  it.each(['', 'a\nb', 'x'.repeat(300)])('take %j for no plug', (plug) => {
    expect(openstack.plugProblem?.(plug, {}, undefined)).toContain('plug is');
  });

  it('warn where the id of the server is not compared', () => {
    expect(openstack.warnings?.({ system_uuid: 'no' })).toMatchObject([{ parameter: 'system_uuid' }]);
    expect(openstack.warnings?.({})).toEqual([]);
  });
});
