import type { Call } from '../shared/call.ts';
import { firstCredentials, type CredentialSource } from '../shared/cloud/credentials.ts';
import type { Reach } from '../shared/cloud/accounts.ts';
import { parseIni } from '../shared/cloud/ini.ts';
import { textAt } from '../shared/web/web-client.ts';
import type { InstanceRole } from './instance-role.ts';
import { foreignHost, type AwsAccess, type Keys } from './parameters.ts';
import type { SecurityTokens } from './security-tokens.ts';

type Source = CredentialSource<Keys>;

interface Parts {
  settings: AwsAccess;
  host: Reach['host'];
  sts: SecurityTokens;
  role: InstanceRole;
}

/** The chain in the order of AWS' own tools; what they have besides (SSO, a process) is told where it is configured. */
export function findKeys(call: Call, parts: Parts): Promise<{ credentials: Keys; source: string }> {
  return firstCredentials(
    call,
    [ofParameters(parts), ofEnvironment(parts), ofWebIdentity(parts), ofFiles(parts), ofContainer(parts), ofInstance(parts)],
    foreignHost(parts.settings),
  );
}

function ofParameters({ settings }: Parts): Source {
  const { keys } = settings;
  const find = keys === undefined ? { absent: 'no access_key' } : { credentials: { ...keys, expiresAtMs: Number.POSITIVE_INFINITY } };
  return { name: 'parameters', find: () => Promise.resolve(find) };
}

function ofEnvironment({ host, settings }: Parts): Source {
  return {
    name: 'environment',
    isOfProcess: true,
    find: () => {
      const [accessKeyId, secretAccessKey] = [host.variable('AWS_ACCESS_KEY_ID'), host.variable('AWS_SECRET_ACCESS_KEY')];
      if (settings.profile !== undefined) return Promise.resolve({ absent: 'a profile is named' });
      if (accessKeyId === undefined || secretAccessKey === undefined)
        return Promise.resolve({ absent: `${accessKeyId === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY'} is not set` });
      const sessionToken = host.variable('AWS_SESSION_TOKEN');
      return Promise.resolve({ credentials: { accessKeyId, secretAccessKey, sessionToken, expiresAtMs: Number.POSITIVE_INFINITY } });
    },
  };
}

/** The role of our service account in EKS (IRSA), or of any cluster whose issuer IAM trusts. */
function ofWebIdentity({ host, sts, settings }: Parts): Source {
  return {
    name: 'web identity',
    isOfProcess: true,
    find: async (call) => {
      const [path, roleArn] = [host.variable('AWS_WEB_IDENTITY_TOKEN_FILE'), host.variable('AWS_ROLE_ARN')];
      if (settings.profile !== undefined) return { absent: 'a profile is named' };
      if (path === undefined || roleArn === undefined)
        return { absent: `${path === undefined ? 'AWS_WEB_IDENTITY_TOKEN_FILE' : 'AWS_ROLE_ARN'} is not set` };
      const token = (await host.readFile(path))?.trim() ?? '';
      if (token === '') throw call.error('Misconfigured', `AWS_WEB_IDENTITY_TOKEN_FILE names ${path}, which is not there or empty`);
      return { credentials: await sts.withWebIdentity(call, roleArn, token) };
    },
  };
}

function ofFiles({ host, settings, sts }: Parts): Source {
  return {
    name: 'shared files',
    isOfProcess: true,
    find: async (call) => {
      const profiles = await readProfiles(host);
      const name = settings.profile ?? host.variable('AWS_PROFILE') ?? 'default';
      const isAsked = settings.profile !== undefined || host.variable('AWS_PROFILE') !== undefined;
      const profile = profiles.get(name);
      if (profile === undefined && isAsked) throw call.error('Misconfigured', `there is no profile ${name} in the shared files`);
      if (profile === undefined) return { absent: `no profile ${name}` };
      return keysOf(call, profile, { name, profiles, sts, depth: 0 });
    },
  };
}

type Profile = ReadonlyMap<string, string>;

const CHAIN_MAX = 4;

/** A profile with keys, or with a role that another profile may assume. */
async function keysOf(
  call: Call,
  profile: Profile,
  { name, profiles, sts, depth }: { name: string; profiles: ReadonlyMap<string, Profile>; sts: SecurityTokens; depth: number },
): Promise<{ credentials: Keys } | { absent: string }> {
  const [accessKeyId, secretAccessKey] = [profile.get('aws_access_key_id'), profile.get('aws_secret_access_key')];
  const [roleArn, sourceName] = [profile.get('role_arn'), profile.get('source_profile')];
  if (roleArn !== undefined && sourceName !== undefined && sourceName !== name) {
    const source = profiles.get(sourceName);
    if (source === undefined || depth >= CHAIN_MAX)
      throw call.error(
        'Misconfigured',
        `source_profile ${sourceName} of profile ${name} is ${source === undefined ? 'missing' : 'one of a chain that is too long'}`,
      );
    const found = await keysOf(call, source, { name: sourceName, profiles, sts, depth: depth + 1 });
    if ('absent' in found) return found;
    return { credentials: await sts.withRole(call, found.credentials, roleArn, profile.get('external_id')) };
  }
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    const sessionToken = profile.get('aws_session_token');
    return { credentials: { accessKeyId, secretAccessKey, sessionToken, expiresAtMs: Number.POSITIVE_INFINITY } };
  }
  const unsupported = ['credential_process', 'sso_session', 'sso_start_url', 'web_identity_token_file', 'credential_source'].find((key) =>
    profile.has(key),
  );
  return { absent: unsupported === undefined ? `profile ${name} has no keys` : `profile ${name} uses ${unsupported}, which nodefence does not` };
}

/** Of both files; the one of credentials wins. */
async function readProfiles(host: Reach['host']): Promise<ReadonlyMap<string, Profile>> {
  const home = host.variable('HOME') ?? '/root';
  const files = {
    config: host.variable('AWS_CONFIG_FILE') ?? `${home}/.aws/config`,
    credentials: host.variable('AWS_SHARED_CREDENTIALS_FILE') ?? `${home}/.aws/credentials`,
  };
  const profiles = new Map<string, Profile>();
  for (const [section, keys] of parseIni((await host.readFile(files.config)) ?? '')) profiles.set(section.replace(/^profile\s+/, ''), keys);
  for (const [section, keys] of parseIni((await host.readFile(files.credentials)) ?? ''))
    profiles.set(section, new Map([...(profiles.get(section) ?? []), ...keys]));
  return profiles;
}

/** Region of the profile that the shared files are read by. */
export async function profileRegion({ settings, host }: Pick<Parts, 'settings' | 'host'>): Promise<string | undefined> {
  return (await readProfiles(host)).get(settings.profile ?? host.variable('AWS_PROFILE') ?? 'default')?.get('region');
}

/** The only addresses without TLS that a token is given to: ECS', EKS' and our own (SDK reference guide, "Container credential provider"). */
const PLAIN_HOSTS = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]', '127.0.0.1', 'localhost', '[::1]']);

/** A task role of ECS, or a pod identity of EKS. */
function ofContainer({ host, role }: Parts): Source {
  return {
    name: 'container',
    isOfProcess: true,
    find: async (call) => {
      const [relative, full] = [host.variable('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'), host.variable('AWS_CONTAINER_CREDENTIALS_FULL_URI')];
      if (relative === undefined && full === undefined) return { absent: 'AWS_CONTAINER_CREDENTIALS_FULL_URI is not set' };
      const url = relative === undefined ? (full ?? '') : `http://169.254.170.2${relative}`;
      const parsed = URL.canParse(url) ? new URL(url) : undefined;
      if (parsed === undefined || (parsed.protocol !== 'https:' && !PLAIN_HOSTS.has(parsed.hostname)))
        throw call.error(
          'Misconfigured',
          `AWS_CONTAINER_CREDENTIALS_FULL_URI ${url.slice(0, 100)} is neither https nor an address of ECS, EKS or this host`,
        );
      const path = host.variable('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
      const token = path === undefined ? host.variable('AWS_CONTAINER_AUTHORIZATION_TOKEN') : (await host.readFile(path))?.trim();
      const answer = await role.ask(call, {
        url,
        method: 'GET',
        ...(token === undefined ? {} : { headers: { Authorization: token } }),
        secrets: [token],
      });
      return { credentials: keysIn(call, 'container', answer.status, answer.body) };
    },
  };
}

function ofInstance({ host, role }: Parts): Source {
  return {
    name: 'instance role',
    isOfProcess: true,
    find: async (call) => {
      if (host.variable('AWS_EC2_METADATA_DISABLED')?.toLowerCase() === 'true') return { absent: 'AWS_EC2_METADATA_DISABLED is true' };
      const found = await role.metadata(call, 'iam/security-credentials/');
      if (typeof found !== 'string') return found;
      const name = found.split('\n')[0]?.trim() ?? '';
      if (name === '') return { absent: 'our instance has no role' };
      const text = await role.metadata(call, `iam/security-credentials/${name}`);
      if (typeof text !== 'string') return text;
      return { credentials: keysIn(call, `role ${name}`, 200, JSON.parse(text) as unknown) };
    },
  };
}

/** `{AccessKeyId, SecretAccessKey, Token, Expiration}` */
function keysIn(call: Call, whose: string, status: number, body: unknown): Keys {
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'Token'].map((name) => textAt(body, name));
  const expiresAtMs = Date.parse(textAt(body, 'Expiration') ?? '');
  if (status !== 200 || accessKeyId === undefined || secretAccessKey === undefined) {
    const code = textAt(body, 'Code') ?? textAt(body, 'code') ?? 'no keys';
    throw call.error('Misconfigured', `credentials of the ${whose}: HTTP ${status}, ${code.slice(0, 100)}`);
  }
  return { accessKeyId, secretAccessKey, sessionToken, expiresAtMs: Number.isNaN(expiresAtMs) ? Number.POSITIVE_INFINITY : expiresAtMs };
}
