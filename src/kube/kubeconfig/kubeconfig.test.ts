import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Logger } from '../../ports/recorder.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { inClusterConfig } from './in-cluster.ts';
import { loadServerConfig, serverConfigOfText, type LoadOptions } from './kubeconfig.ts';

describe('the kubeconfig', () => {
  let directory: string;
  let clock: ManualClock;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'nodefence-'));
    clock = new ManualClock();
  });

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  async function write(name: string, text: string): Promise<string> {
    const path = join(directory, name);
    await writeFile(path, text);
    return path;
  }

  /** A complete file; `user` and `cluster` are YAML flow mappings. */
  function file(user = '{token: t0ken}', cluster = '{server: "https://api.test:6443"}', name = 'main'): string {
    return `
apiVersion: v1
kind: Config
current-context: ${name}
contexts:
- {name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: shop}}
- {name: dangling, context: {cluster: nowhere, user: ${name}}}
clusters:
- {name: ${name}, cluster: ${cluster}}
users:
- {name: ${name}, user: ${user}}
`;
  }

  const load = (options: Partial<LoadOptions>) => loadServerConfig({ environment: {}, clock, ...options });
  const loadText = async (text: string, options: Partial<LoadOptions> = {}) => load({ path: await write('config', text), ...options });
  const failure = (loading: Promise<unknown>): Promise<string> =>
    loading.then(
      () => 'no failure',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );

  it('gives server, token, namespace and where they come from', async () => {
    const config = await loadText(file());
    expect(config).toMatchObject({ source: `${directory}/config, context main`, namespace: 'shop', isVerified: true, authority: undefined });
    expect(config.url.href).toBe('https://api.test:6443/');
    expect(await config.credential.current()).toEqual({ token: 't0ken' });
  });

  it('reads certificates inline and from files beside it, inline first', async () => {
    await write('ca.pem', 'CA FILE');
    await write('key.pem', 'KEY FILE');
    const inline = Buffer.from('CERT INLINE').toString('base64');
    const config = await loadText(
      file(
        `{client-certificate-data: ${inline}, client-certificate: missing.pem, client-key: key.pem}`,
        '{server: "https://a", certificate-authority: ca.pem}',
      ),
    );
    expect(await config.credential.current()).toEqual({ certificatePem: 'CERT INLINE', keyPem: 'KEY FILE' });
    expect(await config.authority?.read()).toBe('CA FILE');
  });

  it('reads a token file anew every minute, and keeps the last token while the file is being exchanged', async () => {
    const path = await write('token', 'one\n');
    const config = await loadText(file('{tokenFile: token}'));
    await write('token', 'two');
    expect(await config.credential.current()).toEqual({ token: 'one' });
    await clock.advance(60_000);
    expect(await config.credential.current()).toEqual({ token: 'two' });
    await rm(path);
    await clock.advance(60_000);
    expect(await config.credential.current()).toEqual({ token: 'two' });
  });

  it('tells once of a file of credentials that cannot be read any more, and reads it at each call until it can', async () => {
    const path = await write('token', 'one');
    const lines: string[] = [];
    const quiet = (): void => undefined;
    const warn: Logger['warn'] = (message, { error } = {}) => void lines.push(`${message}: ${error instanceof Error ? error.message : ''}`);
    const config = await loadText(file('{tokenFile: token}'), { logger: { debug: quiet, info: quiet, warn, error: quiet } });
    await rm(path);
    await clock.advance(60_000);
    for (let call = 0; call < 3; call++) expect(await config.credential.current()).toEqual({ token: 'one' });
    expect(lines).toEqual([expect.stringMatching(/^a file of credentials cannot be read: what was read before is used: .*user\.tokenFile: ENOENT/)]);
    await write('token', 'two');
    expect(await config.credential.current()).toEqual({ token: 'two' });
  });

  it('takes the given path before KUBECONFIG, KUBECONFIG before the pod, the pod before the home directory', async () => {
    const given = await write('given', file('{token: given}'));
    const listed = await write('listed', file('{token: listed}'));
    await mkdir(join(directory, '.kube'));
    await write('.kube/config', file('{token: home}'));
    const environment = { KUBECONFIG: listed, HOME: directory };
    const tokenOf = async (options: Partial<LoadOptions>) => (await (await load(options)).credential.current()).token;
    expect(await tokenOf({ path: given, environment })).toBe('given');
    expect(await tokenOf({ environment })).toBe('listed');
    expect(await tokenOf({ environment: { HOME: directory } })).toBe('home');
    expect(await failure(load({ environment: { HOME: directory, KUBERNETES_SERVICE_HOST: '10.0.0.1' } }))).toMatch(
      /^in-cluster configuration: .*automountServiceAccountToken/,
    );
    expect(await failure(load({ environment: { HOME: '/nonexistent' } }))).toMatch(
      /^no cluster configured: .*give --kubeconfig PATH or set KUBECONFIG$/,
    );
  });

  it('merges the files of KUBECONFIG: the first to name something wins, missing files are passed over', async () => {
    const first = await write('first', file('{token: first}'));
    const second = await write('second', file('{token: second}', '{server: "https://second"}', 'other'));
    const environment = { KUBECONFIG: `${directory}/missing:${first}:${second}` };
    expect((await load({ environment })).url.host).toBe('api.test:6443');
    expect((await load({ environment, context: 'other' })).url.host).toBe('second');
    expect(await failure(load({ environment: { KUBECONFIG: '/no/a:/no/b' } }))).toBe('KUBECONFIG: none of its files exists: /no/a, /no/b');
  });

  it.each<[string, string, string, RegExp]>([
    [
      'a wrong server',
      '{token: t}',
      '{server: "api.test"}',
      /clusters\[name=main\]\.cluster\.server: "api\.test" is not a URL like https:\/\/HOST:PORT/,
    ],
    ['a missing server', '{token: t}', '{}', /cluster\.server: is missing; give the URL/],
    ['a proxy', '{token: t}', '{server: "https://a", proxy-url: "http://p"}', /cluster\.proxy-url: proxies are not supported/],
    [
      'a missing authority file read later',
      '{token: t, client-key: k}',
      '{server: "https://a"}',
      /client-certificate and client-key must be given together/,
    ],
    ['a missing token file', '{tokenFile: nothing}', '{server: "https://a"}', /user\.tokenFile: ENOENT.*must exist and be readable/],
    [
      'data that is not base64',
      '{client-certificate-data: "*", client-key-data: "*"}',
      '{server: "https://a"}',
      /client-certificate-data: is not base64/,
    ],
    [
      'contradicting trust',
      '{token: t}',
      '{server: "https://a", insecure-skip-tls-verify: true, certificate-authority-data: QUJD}',
      /exclude each other; remove one/,
    ],
    [
      'a flag that is no flag',
      '{token: t}',
      '{server: "https://a", insecure-skip-tls-verify: "yes"}',
      /insecure-skip-tls-verify: must be true or false/,
    ],
    ['a password', '{username: u, password: p}', '{server: "https://a"}', /username and password are not accepted by any supported Kubernetes/],
    [
      'a removed provider',
      '{auth-provider: {name: gcp}}',
      '{server: "https://a"}',
      /auth-provider\.name: "gcp" was removed from Kubernetes 1\.26; use the exec plugin/,
    ],
    ['a token that no header can carry', '{token: "a b"}', '{server: "https://a"}', /user\.token: holds characters/],
    ['a plugin without command', '{exec: {apiVersion: client.authentication.k8s.io/v1}}', '{server: "https://a"}', /user\.exec\.command: is missing/],
    [
      'a plugin of an unknown version',
      '{exec: {apiVersion: v0, command: x}}',
      '{server: "https://a"}',
      /user\.exec\.apiVersion: "v0" is not supported/,
    ],
    [
      'a plugin that needs a person',
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}}',
      '{server: "https://a"}',
      /needs a person/,
    ],
    ['half an impersonation', '{token: t, as-groups: [g]}', '{server: "https://a"}', /as-groups and as-uid need as/],
  ])('says file, field and remedy for %s', async (_case, user, cluster, expected) => {
    const message = await failure(loadText(file(user, cluster)));
    expect(message).toMatch(expected);
    expect(message).toContain(`kubeconfig ${directory}/config: `);
  });

  it('names what there is when a context, cluster or user is missing', async () => {
    expect(await failure(loadText(file(), { context: 'prod' }))).toBe('--context: there is no context "prod"; name one of: main, dangling');
    expect(await failure(loadText(file(), { context: 'dangling' }))).toMatch(
      /contexts\[name=dangling\]\.context\.cluster: there is no cluster "nowhere"; name one of: main/,
    );
    expect(await failure(loadText('{}'))).toMatch(/current-context is not set; set it .* there are: \(none\)/);
  });

  it('says that a file is not there, not YAML, or not a mapping, and quotes nothing of it', async () => {
    expect(await failure(load({ path: '/nowhere/config' }))).toMatch(/^kubeconfig \/nowhere\/config: ENOENT.*give the path of a readable file$/);
    const broken = await failure(loadText('users:\n- {name: a, user: {token: s3cret]}'));
    expect(broken).toMatch(/is not YAML, line 2, column \d+; look at it with kubectl/);
    expect(broken).not.toContain('s3cret');
    expect(await failure(loadText('just words'))).toMatch(/: must be a mapping$/);
    expect(await failure(loadText('users: 7\ncurrent-context: a'))).toMatch(/users: must be a list/);
  });

  it('acts as somebody else when the user entry says so', async () => {
    const config = await loadText(file('{token: t, as: jane, as-groups: [ops, dev], as-uid: "7"}'));
    expect(config.headers).toEqual({ 'impersonate-user': 'jane', 'impersonate-group': ['ops', 'dev'], 'impersonate-uid': '7' });
  });

  it.each([
    ['client-certificate-data', '{client-certificate-data: Q0VSVA==}'],
    ['client-key-data', '{client-key-data: S0VZ}'],
  ])('is nobody’s with %s alone', async (_field, user) => {
    expect(await failure(loadText(file(user)))).toContain('client-certificate and client-key must be given together');
  });

  it.each([
    ['tokenFile', '{tokenFile: /etc/shadow}', undefined],
    ['client-certificate', '{client-certificate: /a, client-key: /b}', undefined],
    ['client-key', '{client-certificate-data: Q0VSVA==, client-key: /b}', undefined],
    ['exec', '{exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/sh}}', undefined],
    ['auth-provider', '{auth-provider: {name: oidc}}', undefined],
    ['certificate-authority', undefined, '{server: "https://a", certificate-authority: /a}'],
  ])('that came over the API names no file and no program of this machine: %s', async (field, user, cluster) => {
    const message = await failure(serverConfigOfText(file(user, cluster), 'Secret shop/kubeconfig', clock));
    expect(message).toContain(`.${field}: names a file or a program of this machine`);
  });

  it('uses the token of the old OIDC provider until it expires', async () => {
    const tokenThatExpires = (seconds: number): string => `h.${Buffer.from(JSON.stringify({ exp: seconds })).toString('base64url')}.s`;
    const user = (token: string): string => `{auth-provider: {name: oidc, config: {id-token: ${token}}}}`;
    const now = Math.round(clock.wallMs() / 1000);
    const token = tokenThatExpires(now + 60);
    expect(await (await loadText(file(user(token)))).credential.current()).toEqual({ token });
    expect(await failure(loadText(file(user(tokenThatExpires(now - 60)))))).toMatch(/id-token: expired at .*; run kubectl once to renew it/);
  });

  describe('with an exec plugin', () => {
    const API_VERSION = 'client.authentication.k8s.io/v1';

    async function plugin(script: string, more = ''): Promise<string> {
      await chmod(await write('plugin', `#!/bin/sh\n${script}\n`), 0o755);
      return file(`{exec: {apiVersion: ${API_VERSION}, command: ./plugin, args: [one], env: [{name: MODE, value: m}]${more}}}`);
    }

    const answer = (status: string): string => `echo '{"apiVersion":"${API_VERSION}","kind":"ExecCredential","status":${status}}'`;

    it('runs it beside the file with its arguments and environment, and keeps its answer until that expires or is refused', async () => {
      const expiry = new Date(clock.wallMs() + 60_000).toISOString();
      const script = `echo "$1 $MODE $KUBERNETES_EXEC_INFO" >> ${directory}/runs\n${answer(`{"token":"'$(wc -l < ${directory}/runs | tr -d ' ')'","expirationTimestamp":"${expiry}"}`)}`;
      const { credential } = await loadText(await plugin(script, ', provideClusterInfo: true'));
      const askers = await Promise.all([credential.current(), credential.current()]);
      expect(askers.map(({ token }) => token)).toEqual(['1', '1']);
      expect(await credential.current()).toEqual({ token: '1' });
      clock.jumpWall(60_000);
      expect(await credential.current()).toEqual({ token: '2' });
      expect(credential.rejected()).toBe(true);
      expect(await credential.current()).toEqual({ token: '3' });
      const [line = ''] = (await readFile(join(directory, 'runs'), 'utf8')).split('\n');
      expect(line).toMatch(/^one m \{/);
      expect(JSON.parse(line.slice(6))).toMatchObject({
        kind: 'ExecCredential',
        spec: { interactive: false, cluster: { server: 'https://api.test:6443' } },
      });
    });

    it('takes a client certificate from it', async () => {
      const { credential } = await loadText(await plugin(answer('{"clientCertificateData":"C","clientKeyData":"K"}')));
      expect(await credential.current()).toEqual({ certificatePem: 'C', keyPem: 'K' });
    });

    it.each<[string, string, RegExp]>([
      ['fails', 'echo s3cret; echo "login first" >&2; exit 3', /credential plugin .*plugin failed \(3\): login first; run it by hand/],
      ['answers no JSON', 'echo s3cret', /answered something that is not JSON$/],
      ['answers something else', `echo '{"kind":"Other","s3cret":1}'`, /answered no ExecCredential of client\.authentication\.k8s\.io\/v1$/],
      ['gives nothing', answer('{"s3cret":1}'), /answered neither a token nor a client certificate/],
      ['gives a wrong time', answer('{"token":"s3cret","expirationTimestamp":"soon"}'), /expirationTimestamp that is not RFC 3339/],
    ])('says what is wrong when it %s, without its output', async (_case, script, expected) => {
      const { credential } = await loadText(await plugin(script));
      const message = await failure(credential.current());
      expect(message).toMatch(expected);
      expect(message).toContain('users[name=main].user.exec');
      expect(message).not.toContain('s3cret');
    });

    it('waits for it no longer than a minute, whatever signals it ignores and whoever holds its output, and runs it anew', async () => {
      const script = `if [ -e ${directory}/runs ]; then ${answer('{"token":"second"}')}; exit; fi\ntrap '' TERM\necho > ${directory}/runs\nfor _ in $(seq 300); do sleep 0.1; done`;
      const { credential } = await loadText(await plugin(script));
      const asked = failure(credential.current());
      await expect.poll(() => readFile(join(directory, 'runs'), 'utf8').catch(() => ''), { timeout: 10_000 }).toBe('\n');
      await clock.advance(60_000);
      expect(await asked).toMatch(/credential plugin .*plugin gave no answer within 60 s; run it by hand/);
      expect(await credential.current()).toEqual({ token: 'second' });
    });

    it('passes the install hint on when the plugin is not there', async () => {
      const { credential } = await loadText(
        file(`{exec: {apiVersion: ${API_VERSION}, command: no-such-plugin-anywhere, installHint: get it from the shop}}`),
      );
      expect(await failure(credential.current())).toMatch(/no-such-plugin-anywhere failed \(ENOENT\); get it from the shop$/);
    });
  });

  it('reads the service account of a pod', async () => {
    await write('token', 'pod-token');
    await write('ca.crt', 'CA');
    await write('namespace', 'kube-system\n');
    const config = await inClusterConfig({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }, { clock }, directory);
    expect([config.url.href, config.namespace]).toEqual(['https://[fd00::1]:6443/', 'kube-system']);
    expect(await config.credential.current()).toEqual({ token: 'pod-token' });
  });
});
