import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { hostFile } from '../shared/cloud/host-file.ts';
import { parseIni } from '../shared/cloud/ini.ts';
import { yamlIn } from '../shared/cloud/yaml.ts';
import { parseBoolean } from '../shared/parameter-schema.ts';
import { member } from '../shared/web/web-client.ts';
import type { IdentityFields } from './identity.ts';

/** Fields of an identity, by what stands for each in some place. */
function fieldsBy(valueOf: (...names: readonly string[]) => string | undefined): IdentityFields {
  const userDomain = valueOf('user_domain_name', 'domain_name');
  return {
    auth_url: valueOf('auth_url'),
    username: valueOf('username', 'user_name'),
    user_id: valueOf('user_id'),
    password: valueOf('password'),
    user_domain_name: userDomain,
    user_domain_id: valueOf('user_domain_id', 'domain_id') ?? (userDomain === undefined ? valueOf('default_domain') : undefined),
    project_name: valueOf('project_name', 'tenant_name'),
    project_id: valueOf('project_id', 'tenant_id'),
    project_domain_name: valueOf('project_domain_name', 'tenant_domain_name'),
    project_domain_id: valueOf('project_domain_id', 'tenant_domain_id'),
    application_credential_id: valueOf('application_credential_id'),
    application_credential_name: valueOf('application_credential_name'),
    application_credential_secret: valueOf('application_credential_secret'),
    region: valueOf('region_name', 'region'),
    interface: valueOf('interface', 'endpoint_type', 'os_endpoint_type')?.replace(/URL$/, ''),
    ca: valueOf('cacert', 'ca_file'),
    isInsecure: parseBoolean(valueOf('insecure', 'tls_insecure') ?? '') ?? parseBoolean(valueOf('verify') ?? '') === false,
  };
}

/** `OS_` variables, as the command-line tools of OpenStack read them. */
export function environmentFields(variable: (name: string) => string | undefined): IdentityFields {
  return fieldsBy((...names) => names.map((name) => variable(`OS_${name.toUpperCase()}`)).find((value) => value !== undefined && value !== ''));
}

/** An openrc file is a script; only plain assignments are read: what asks, calls or refers to something else is as if it were not there. */
export function openrcFields(text: string): IdentityFields {
  const variables = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name = '', double, single, bare = ''] = /^\s*(?:export\s+)?(OS_\w+)=(?:"([^"]*)"|'([^']*)'|([^\s#;]*))\s*(?:[#;].*)?$/.exec(line) ?? [];
    const value = double ?? single ?? bare;
    if (name !== '' && (single !== undefined || !/[$`\\]/.test(value))) variables.set(name, value);
  }
  return environmentFields((name) => variables.get(name));
}

/** `[Global]` of the file that the cloud controller of OpenStack reads (cloud-provider-openstack, "Global" in using-openstack-cloud-controller-manager). */
export function cloudConfFields(text: string): IdentityFields {
  const global = parseIni(text).get('Global');
  return fieldsBy((...names) => {
    const value = names.map((name) => global?.get(name.replaceAll('_', '-'))).find((found) => found !== undefined && found !== '');
    return value?.replace(/^"(.*)"$/, '$1');
  });
}

/** Where openstacksdk looks for `clouds.yaml`; the working directory of a controller is not looked at. */
function cloudsPaths(host: HostEnvironment): readonly string[] {
  const named = host.variable('OS_CLIENT_CONFIG_FILE');
  const home = host.variable('HOME');
  const own = host.variable('XDG_CONFIG_HOME') ?? (home === undefined ? undefined : `${home}/.config`);
  const folders = [...(own === undefined ? [] : [`${own}/openstack`]), '/etc/openstack'];
  return [...(named === undefined ? [] : [named]), ...folders.flatMap((folder) => [`${folder}/clouds.yaml`, `${folder}/clouds.yml`])];
}

/** An anchor for what several clouds share is common. */
const ALIASES_MAX = 100;

function yamlOf(call: Call, path: string, text: string): unknown {
  const read = yamlIn(text, ALIASES_MAX);
  if ('value' in read) return read.value;
  throw call.error('Misconfigured', `${path} is no YAML (line ${read.badLine})`);
}

/** A cloud of `clouds.yaml`, with what `secure.yaml` beside it adds. Without a name: the only one there is. */
export async function cloudsFields(
  host: HostEnvironment,
  call: Call,
  wanted: string | undefined,
): Promise<{ fields: IdentityFields } | { absent: string }> {
  const paths = cloudsPaths(host);
  for (const path of paths) {
    const text = await hostFile(host, call, path);
    if (text === undefined) continue;
    const clouds = member(yamlOf(call, path, text), 'clouds');
    const names = typeof clouds === 'object' && clouds !== null ? Object.keys(clouds) : [];
    const name = wanted ?? (names.length === 1 ? names[0] : undefined);
    if (name === undefined) return { absent: `${path} has ${names.length} clouds, and none is named by cloud= or OS_CLOUD` };
    const cloud = member(clouds, name);
    if (cloud === undefined) return { absent: `${path} has no cloud ${name}` };
    if (member(cloud, 'profile') !== undefined && member(cloud, 'auth', 'auth_url') === undefined)
      return { absent: `${path}: profile= of cloud ${name} is not supported: write its auth_url` };
    const securePath = host.variable('OS_CLIENT_SECURE_FILE') ?? path.replace(/clouds\.(ya?ml)$/, 'secure.$1');
    const secureText = securePath === path ? undefined : await hostFile(host, call, securePath);
    const secure = secureText === undefined ? undefined : member(yamlOf(call, securePath, secureText), 'clouds', name);
    return { fields: cloudFields([secure, cloud]) };
  }
  return { absent: `none of ${paths.join(', ')} is there` };
}

/** The first of several descriptions of one cloud wins. */
function cloudFields(clouds: readonly unknown[]): IdentityFields {
  const asText = (value: unknown): string | undefined => {
    if (typeof value === 'boolean' || typeof value === 'number') return String(value);
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  return fieldsBy((...names) =>
    names
      .flatMap((name) => clouds.flatMap((cloud) => [asText(member(cloud, 'auth', name)), asText(member(cloud, name))]))
      .find((value) => value !== undefined),
  );
}
