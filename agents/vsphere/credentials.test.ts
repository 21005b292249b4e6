import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { PowerAgent } from '../../src/ports/agents.ts';
import { createAuthority } from '../../src/testbed/certificates.ts';
import { environmentOf, failureOf, powerAgentIn, startCloudHarness, type CloudHarness } from '../../src/testbed/devices/cloud/testing.ts';
import { vcenterOf, vsphereCloud } from '../../src/testbed/devices/cloud/vsphere.ts';
import { vsphere } from './definition.ts';

const USER = 'fence@vsphere.local';
const authority = createAuthority('nodefence vsphere');
const certificate = authority.issue({ commonName: 'vcenter', hosts: ['127.0.0.1'] });

describe('credentials of vSphere', () => {
  let cloud: CloudHarness;
  let password = '';
  let place = '';
  const agents: PowerAgent[] = [];

  beforeEach(async () => {
    cloud = await startCloudHarness(vsphereCloud, { certificate });
    ({ password } = vcenterOf(cloud.service));
    place = cloud.service.url.replace('https://', '');
  });

  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close?.();
    await cloud.service.close();
  });

  async function readWith(variables: Record<string, string>, files: Record<string, string> = {}, parameters: Record<string, string> = {}) {
    const agent = await powerAgentIn(vsphere, environmentOf(variables, { '/ca.pem': authority.certificatePem, ...files }));
    agents.push(agent);
    return agent.read(cloud.target({ parameters }));
  }

  const trusted = { ca: authority.certificatePem };

  it('are taken from parameters first, by the names of fence_vmware_rest', async () => {
    const [ipaddr = '', ipport = ''] = place.split(':');
    const parameters = { ...trusted, ipaddr, ipport, login: USER, passwd: password, ssl: '1', api_path: '/rest', filter: 'x' };
    expect(await readWith({ GOVC_URL: 'https://192.0.2.1' }, {}, parameters)).toMatchObject({ state: 'on', identity: 'verified' });
  });

  it('are then taken from VSPHERE_SERVER, VSPHERE_USERNAME and VSPHERE_PASSWORD', async () => {
    const variables = { VSPHERE_SERVER: place, VSPHERE_USERNAME: USER, VSPHERE_PASSWORD: password, VSPHERE_CAFILE: '/ca.pem', GOVC_URL: 'elsewhere' };
    expect(await readWith(variables)).toMatchObject({ state: 'on' });
  });

  it.each([
    ['GOVC_USERNAME and GOVC_PASSWORD', () => ({ GOVC_URL: `https://${place}/sdk`, GOVC_USERNAME: USER, GOVC_PASSWORD: password })],
    ['the URL itself', () => ({ GOVC_URL: `https://${encodeURIComponent(USER)}:${encodeURIComponent(password)}@${place}/sdk` })],
  ])('are then taken from GOVC_URL with %s', async (_name, variables) => {
    expect(await readWith({ ...variables(), GOVC_TLS_CA_CERTS: '/ca.pem' })).toMatchObject({ state: 'on' });
  });

  it('are then taken from the YAML of the cloud provider, with the files of its Secret', async () => {
    const configuration = `global:\n  secretsDirectory: /secrets\n  caFile: /ca.pem\nvcenter:\n  main:\n    server: 127.0.0.1\n    port: ${place.split(':')[1] ?? ''}\n`;
    const files = {
      '/etc/cloud/vsphere.conf': configuration,
      '/secrets/127.0.0.1.username': `${USER}\n`,
      '/secrets/127.0.0.1.password': `${password}\n`,
    };
    expect(await readWith({}, files)).toMatchObject({ state: 'on' });
  });

  it('are then taken from the INI of the CSI driver, wherever VSPHERE_CONFIG has it', async () => {
    const written = password.replaceAll('"', '\\"');
    const configuration = `# of the CSI driver\n[Global]\nca-file = "/ca.pem"\nuser = "nobody"\n\n[VirtualCenter "127.0.0.1"]\nuser = "${USER}"\npassword = "${written}"\nport = "${place.split(':')[1] ?? ''}"\n`;
    expect(await readWith({ VSPHERE_CONFIG: '/csi.conf' }, { '/csi.conf': configuration })).toMatchObject({ state: 'on' });
  });

  it('are not found, and all that was tried is named', async () => {
    const error = await failureOf(readWith({ VSPHERE_SERVER: 'vc.example', GOVC_URL: 'vc.example', GOVC_USERNAME: USER }));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain(
      'no credentials found: tried parameters (username and password are not set), environment VSPHERE_* (VSPHERE_USERNAME is not set), ' +
        'environment GOVC_* (GOVC_PASSWORD is not set), configuration of the cloud provider (there is no /etc/cloud/vsphere.conf and no /etc/cloud/csi-vsphere.conf)',
    );
  });

  it('name the Secret to mount where the configuration has it in the cluster', async () => {
    const configuration = 'global:\n  secretName: creds\n  secretNamespace: kube-system\nvcenter:\n  vc.example:\n    server: vc.example\n';
    const error = await failureOf(readWith({}, { '/etc/cloud/vsphere.conf': configuration }));
    expect(error.message).toContain('/etc/cloud/secrets/vc.example.username (mount Secret kube-system/creds there) is not set');
  });

  it('of several vCenters are refused by name, and chosen by ip', async () => {
    const port = place.split(':')[1] ?? '';
    const centre = (server: string): string =>
      `  ${server}:\n    server: ${server}\n    port: ${port}\n    user: ${USER}\n    password: ${JSON.stringify(password)}\n`;
    const files = { '/etc/cloud/vsphere.conf': `global:\n  caFile: /ca.pem\nvcenter:\n${centre('vc.example')}${centre('127.0.0.1')}` };
    const error = await failureOf(readWith({}, files));
    expect(error.kind).toBe('Misconfigured');
    expect(error.message).toContain('/etc/cloud/vsphere.conf names 2 vCenters (vc.example, 127.0.0.1): say with ip= which one is meant');
    expect(await readWith({}, files, { ip: '127.0.0.1', ipport: port })).toMatchObject({ state: 'on' });
  });

  it('of the environment are never sent to another server that a ConfigMap names', async () => {
    const variables = { VSPHERE_SERVER: 'vc.example', VSPHERE_USERNAME: USER, VSPHERE_PASSWORD: password };
    const error = await failureOf(readWith(variables, {}, { ...trusted, ip: place }));
    expect(error.message).toContain('environment VSPHERE_* (VSPHERE_SERVER names vc.example)');
    expect(cloud.service.requests).toEqual([]);
  });

  it.each([
    ['neither YAML nor INI', 'vcenter: [unclosed'],
    ['neither YAML nor INI', 'just words'],
  ])('are not guessed from a file that is %s', async (words, text) => {
    const error = await failureOf(readWith({}, { '/etc/cloud/vsphere.conf': text }));
    expect(error.message).toContain(words);
    expect(error.message).not.toContain(text);
  });

  describe('go only to a server that is trusted', () => {
    it('by the SHA-256 of its certificate, also where its environment has it', async () => {
      const login = { VSPHERE_SERVER: place, VSPHERE_USERNAME: USER, VSPHERE_PASSWORD: password };
      expect(await readWith(login, {}, { ssl_fingerprint: certificate.fingerprintSha256 })).toMatchObject({ state: 'on' });
      expect(await readWith({ ...login, VSPHERE_THUMBPRINT: certificate.fingerprintSha256 })).toMatchObject({ state: 'on' });
      const error = await failureOf(readWith({ ...login, VSPHERE_THUMBPRINT: '00'.repeat(32) }));
      expect(error.message).toContain(`it has the SHA-256 fingerprint ${certificate.fingerprintSha256}`.replace('it has', 'its certificate has'));
      expect(cloud.service.requests.filter((name) => name === 'Login')).toHaveLength(2);
    });

    it('never by an insecure flag or a SHA-1 thumbprint of others, and it says how to do it', async () => {
      const thumbprint = Array.from({ length: 20 }, () => 'AB').join(':');
      const variables = {
        VSPHERE_SERVER: place,
        VSPHERE_USERNAME: USER,
        VSPHERE_PASSWORD: password,
        VSPHERE_INSECURE: 'true',
        VSPHERE_THUMBPRINT: thumbprint,
      };
      const error = await failureOf(readWith(variables));
      expect(error.kind).toBe('Misconfigured');
      expect(error.message).toContain('not trusted: ');
      expect(error.message).toContain('the thumbprint of VSPHERE_SERVER is SHA-1 and too weak to trust');
      expect(error.message).toContain('the insecure flag of VSPHERE_SERVER is not followed: only ssl_insecure=yes is');
      expect(error.message).toContain('-fingerprint -sha256');
      expect(cloud.service.requests).toEqual([]);
      expect(await readWith(variables, {}, { ssl_insecure: 'yes' }), 'where the method says so').toMatchObject({ state: 'on' });
    });
  });
});
