import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { PowerAgent } from '../../src/ports/agents.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { engineOf, ovirtCloud, USER } from '../../src/testbed/devices/cloud/ovirt.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { ovirt } from './definition.ts';

const authority = createAuthority('nodefence ovirt');
const certificate = authority.issue({ commonName: 'engine', hosts: ['127.0.0.1'] });
const CONFIGURATION = '/root/.ovirt/ovirt-config.yaml';

describe('credentials of oVirt', () => {
  let cloud: CloudHarness;
  let password = '';
  let url = '';
  const agents: PowerAgent[] = [];

  beforeEach(async () => {
    cloud = await startCloudHarness(ovirtCloud, { certificate });
    ({ password } = engineOf(cloud.service));
    url = `${cloud.service.url}/ovirt-engine/api`;
  });

  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close?.();
    await cloud.service.close();
  });

  async function readWith(variables: Record<string, string>, files: Record<string, string> = {}, parameters: Record<string, string> = {}) {
    const agent = await powerAgentIn(ovirt, environmentOf(variables, { '/ca.pem': authority.certificatePem, ...files }));
    agents.push(agent);
    return agent.read(cloud.target({ parameters }));
  }

  const environment = (): Record<string, string> => ({ OVIRT_URL: url, OVIRT_USERNAME: USER, OVIRT_PASSWORD: password });
  const configuration = (more: Record<string, string>): string =>
    Object.entries({ ovirt_url: url, ovirt_username: USER, ovirt_password: password, ...more })
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
      .join('');

  it('are taken from parameters first, by the names of fence_rhevm', async () => {
    const { hostname, port } = new URL(url);
    const named = {
      ipaddr: hostname,
      ipport: port,
      login: USER,
      passwd: password,
      ssl_secure: '1',
      api_version: 'auto',
      api_path: '/ovirt-engine/api',
    };
    const parameters = { ...named, use_cookies: '1', cookie_file: '/tmp/x', disable_http_filter: '0', ca: authority.certificatePem };
    expect(await readWith({ OVIRT_URL: 'https://192.0.2.1' }, {}, parameters)).toMatchObject({ state: 'on', identity: 'verified' });
  });

  it.each([
    ['OVIRT_CAFILE', () => ({ OVIRT_CAFILE: '/ca.pem' })],
    ['OVIRT_CA_BUNDLE', () => ({ OVIRT_CA_BUNDLE: authority.certificatePem })],
  ])('are then taken from OVIRT_URL, OVIRT_USERNAME and OVIRT_PASSWORD, with %s', async (_name, trusted) => {
    expect(await readWith({ ...environment(), ...trusted() })).toMatchObject({ state: 'on' });
  });

  it.each([
    ['in the home', { HOME: '/root' }, CONFIGURATION],
    ['that OVIRT_CONFIG names', { HOME: '/root', OVIRT_CONFIG: '/etc/engine.yaml' }, '/etc/engine.yaml'],
  ])('are then taken from the ovirt-config.yaml %s', async (_name, variables, path) => {
    const files = { [path]: configuration({ ovirt_ca_bundle: authority.certificatePem, ovirt_insecure: 'false' }) };
    expect(await readWith(variables, files)).toMatchObject({ state: 'on' });
  });

  it('are not sent to another engine than their own place names', async () => {
    const error = await failureOf(readWith({ ...environment(), OVIRT_CAFILE: '/ca.pem' }, {}, { ip: '192.0.2.1' }));
    expect([error.kind, error.message]).toEqual([
      'Misconfigured',
      expect.stringMatching(/environment OVIRT_\* \(OVIRT_URL names 127\.0\.0\.1:\d+\)/u),
    ]);
    expect(cloud.service.requests).toEqual([]);
  });

  it('are sent to no other path than their own place names', async () => {
    const parameters = { api_path: '/elsewhere/ovirt-engine/api' };
    expect(await readWith({ ...environment(), OVIRT_CAFILE: '/ca.pem' }, {}, parameters)).toMatchObject({ state: 'on' });
  });

  it('that nobody has are told with all places where they were looked for', async () => {
    const files = { [CONFIGURATION]: 'ovirt_url: https://engine.example/ovirt-engine/api\n' };
    expect((await failureOf(readWith({ HOME: '/root', OVIRT_URL: url }, files))).message).toContain(
      'no credentials found: tried parameters (username and password are not set), environment OVIRT_* (OVIRT_USERNAME is not set), ' +
        `ovirt-config.yaml (ovirt_username in ${CONFIGURATION} is not set)`,
    );
    expect((await failureOf(readWith({}))).message).toContain('neither OVIRT_CONFIG nor HOME is set');
    expect((await failureOf(readWith({ HOME: '/root' }))).message).toContain(`there is no ${CONFIGURATION}`);
  });

  it('of a file that is no YAML are not quoted', async () => {
    const error = await failureOf(readWith({ HOME: '/root' }, { [CONFIGURATION]: 'ovirt_password: "secret\n - x: [' }));
    expect([error.kind, error.message]).toEqual(['Misconfigured', expect.not.stringContaining('secret')]);
  });

  it('go to no engine that is not trusted, whatever an insecure flag says, and the way to trust it is told', async () => {
    const error = await failureOf(readWith({ ...environment(), OVIRT_INSECURE: 'true', OVIRT_CAFILE: '/gone.pem' }));
    expect([error.kind, error.message]).toEqual([
      'Misconfigured',
      expect.stringMatching(
        /not trusted: .*there is no \/gone\.pem; the insecure flag beside OVIRT_URL is not followed.*pki-resource\?resource=ca-certificate/u,
      ),
    ]);
    expect(cloud.service.requests).toEqual([]);
    expect(await readWith(environment(), {}, { ssl_insecure: 'yes' })).toMatchObject({ state: 'on' });
  });

  it('that are wrong are refused in the words of the engine', async () => {
    const error = await failureOf(readWith({ ...environment(), OVIRT_CAFILE: '/ca.pem', OVIRT_PASSWORD: 'another' }));
    expect([error.kind, error.message]).toEqual([
      'Refused',
      expect.stringContaining("HTTP 400: access_denied: Cannot authenticate user 'fence@internal': Unable to log in."),
    ]);
  });
});
