import { afterEach, describe, expect, it } from 'vitest';
import { serveHttps, type HttpShell } from '../testbed/apiserver/http-shell.ts';
import { ApiServer } from '../testbed/apiserver/server.ts';
import { NODES } from '../ports/resources.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { SystemClock } from '../runtime/system-clock.ts';
import { SystemRandom } from '../runtime/system-random.ts';
import { connectCluster } from './connect-cluster.ts';

const TOKEN = 'a-token-of-this-test';

function kubeconfig(user: string, cluster: string): string {
  return [
    'current-context: there',
    'contexts: [{name: there, context: {cluster: there, user: there}}]',
    `clusters: [{name: there, cluster: ${cluster}}]`,
    `users: [{name: there, user: ${user}}]`,
  ].join('\n');
}

const SERVER = '{server: "https://192.0.2.1:6443"}';

describe('another cluster by the text of a kubeconfig', () => {
  let shell: HttpShell | undefined;
  afterEach(async () => {
    await shell?.close();
    shell = undefined;
  });

  it('is reached with the certificate and the token in it', async () => {
    const users = [{ name: 'fencer', groups: ['system:masters'], token: TOKEN }];
    shell = await serveHttps({ server: new ApiServer({ clock: new ManualClock(), random: new SystemRandom(), users, authorization: 'rbac' }) });
    const authority = Buffer.from(shell.caPem).toString('base64');
    const text = kubeconfig(`{token: ${TOKEN}}`, `{server: "${shell.url}", certificate-authority-data: ${authority}}`);
    const cluster = await connectCluster(text, new SystemClock());
    expect(await cluster.list(NODES)).toEqual([]);
    cluster.close();
  });

  it.each([
    ['{exec: {command: sh}}', SERVER, 'users[0].user.exec'],
    ['{tokenFile: /etc/passwd}', SERVER, 'users[0].user.tokenFile'],
    ['{client-certificate: /a, client-key: /b}', SERVER, 'client-certificate'],
    ['{auth-provider: {name: oidc}}', SERVER, 'auth-provider'],
    [`{token: ${TOKEN}}`, '{server: "https://192.0.2.1:6443", certificate-authority: /etc/passwd}', 'certificate-authority'],
  ])('is refused where it names a file or a program of this machine: %s', async (user, cluster, field) => {
    await expect(connectCluster(kubeconfig(user, cluster), new ManualClock())).rejects.toThrow(field);
  });

  it('says what is wrong without quoting what may be a token', async () => {
    const failure = await connectCluster(`users: [{token: ${TOKEN}`, new ManualClock()).catch(String);
    expect(failure).toMatch(/kubeconfig \(parameter\): is not YAML, line \d+/);
    expect(failure).not.toContain(TOKEN);
  });
});
