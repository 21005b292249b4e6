import type { Clock } from '../../ports/clock.ts';
import type { CredentialSource } from '../credentials/credential-source.ts';
import { ExecCredential } from '../credentials/exec-credential.ts';
import { StoredCredential } from '../credentials/stored-credential.ts';
import { FileText, InlineText, type Reading, type TextSource } from '../credentials/text-source.ts';
import { resolved, textSourceOf, type Place } from './place.ts';
import type { Section } from './section.ts';

export interface UserContext extends Reading {
  environment: Readonly<Record<string, string | undefined>>;
}

/** Who a user entry says we are. Without an entry: nobody, as kubectl does it. */
export async function credentialOf(
  user: Section | undefined,
  place: Place | undefined,
  cluster: Section,
  context: UserContext,
): Promise<CredentialSource> {
  if (user === undefined || place === undefined) {
    return new StoredCredential({});
  }
  refuseUnsupported(user);
  const exec = user.section('exec');
  if (exec !== undefined) {
    return execCredential(exec, place, cluster, context);
  }
  const token = tokenOf(user, place, context);
  const certificate = textSourceOf(user, place, 'client-certificate', context);
  const key = textSourceOf(user, place, 'client-key', context);
  if ((certificate === undefined) !== (key === undefined)) {
    throw new Error(`${user.where}: client-certificate and client-key must be given together`);
  }
  const credential = new StoredCredential({
    ...(token === undefined ? {} : { token }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  });
  // Files that cannot be read are a mistake of today, not of the first request.
  await credential.current();
  return credential;
}

function refuseUnsupported(user: Section): void {
  if (user.has('username') || user.has('password')) {
    throw new Error(`${user.where}: username and password are not accepted by any supported Kubernetes; use a token, a client certificate or exec`);
  }
  const provider = user.section('auth-provider');
  if (provider !== undefined && provider.text('name') !== 'oidc') {
    throw new Error(
      `${provider.where}.name: "${provider.text('name') ?? ''}" was removed from Kubernetes 1.26; use the exec plugin of your provider`,
    );
  }
}

function tokenOf(user: Section, place: Place, reading: Reading): TextSource | undefined {
  const path = user.text('tokenFile');
  if (path !== undefined) {
    return new FileText(resolved(path, place), `${user.where}.tokenFile`, reading);
  }
  const token = user.text('token') ?? identityToken(user, reading.clock);
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new Error(`${user.where}.token: holds characters that cannot be sent in a header`);
  }
  return token === undefined ? undefined : new InlineText(token);
}

/** The legacy OIDC provider keeps its token in the file; renewing it is kubectl's or an exec plugin's business. */
function identityToken(user: Section, clock: Clock): string | undefined {
  const config = user.section('auth-provider')?.section('config');
  if (config === undefined) {
    return undefined;
  }
  const token = config.text('id-token');
  const remedy = 'run kubectl once to renew it, or use an exec plugin (kubelogin), which renews by itself';
  if (token === undefined) {
    throw new Error(`${config.where}.id-token: is missing; ${remedy}`);
  }
  const expiresAtMs = expiryOf(token);
  if (expiresAtMs !== undefined && expiresAtMs <= clock.wallMs()) {
    throw new Error(`${config.where}.id-token: expired at ${new Date(expiresAtMs).toISOString()}; ${remedy}`);
  }
  return token;
}

function expiryOf(token: string): number | undefined {
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  const seconds = /"exp"\s*:\s*(\d{1,12})/.exec(claims)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

async function execCredential(exec: Section, place: Place, cluster: Section, context: UserContext): Promise<CredentialSource> {
  const command = exec.text('command');
  if (command === undefined) {
    throw new Error(`${exec.where}.command: is missing; name the credential plugin`);
  }
  if (exec.text('interactiveMode') === 'Always') {
    throw new Error(`${exec.where}.interactiveMode: Always needs a person at a terminal; use IfAvailable or Never`);
  }
  const variables = exec.sections('env').map((variable): [string, string] => [variable.text('name') ?? '', variable.text('value') ?? '']);
  return new ExecCredential(
    {
      where: exec.where,
      apiVersion: exec.text('apiVersion') ?? '',
      command: command.includes('/') ? resolved(command, place) : command,
      arguments: exec.texts('args'),
      environment: Object.fromEntries(variables.filter(([name]) => name !== '')),
      installHint: exec.text('installHint') ?? '',
      cluster: exec.isTrue('provideClusterInfo') ? await clusterInfo(cluster, place, context) : undefined,
    },
    context.clock,
    context.environment,
  );
}

async function clusterInfo(cluster: Section, place: Place, reading: Reading): Promise<object> {
  const authority = await textSourceOf(cluster, place, 'certificate-authority', reading)?.read();
  return {
    server: cluster.text('server'),
    'tls-server-name': cluster.text('tls-server-name'),
    'insecure-skip-tls-verify': cluster.isTrue('insecure-skip-tls-verify'),
    ...(authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') }),
    config: null,
  };
}

/** Headers by which a user entry acts as somebody else. */
export function impersonationOf(user: Section): Record<string, string | string[]> {
  const as = user.text('as');
  const groups = user.texts('as-groups');
  const uid = user.text('as-uid');
  if (as === undefined && (groups.length > 0 || uid !== undefined)) {
    throw new Error(`${user.where}: as-groups and as-uid need as`);
  }
  return {
    ...(as === undefined ? {} : { 'impersonate-user': as }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': [...groups] }),
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
  };
}
