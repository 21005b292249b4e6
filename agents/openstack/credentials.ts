import type { HostEnvironment } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { firstCredentials, type CredentialSource } from '../shared/cloud/credentials.ts';
import { hostFile } from '../shared/cloud/host-file.ts';
import { loginOf, versioned, type IdentityFields, type Login } from './identity.ts';
import type { OpenStackSettings } from './settings.ts';
import { cloudConfFields, cloudsFields, environmentFields, openrcFields } from './sources.ts';

/** Where the cloud controller of OpenStack has its file, in its own pod; here, where somebody mounted it. */
const CLOUD_CONF = '/etc/config/cloud.conf';

/** A login, and what was said beside it. */
export interface Credentials {
  login: Login;
  fields: IdentityFields;
  source: string;
}

type Looked = { fields: IdentityFields } | { absent: string };

/** The first place that has credentials; where the parameters name one, no other is looked at. */
export async function credentialsOf(host: HostEnvironment, call: Call, settings: OpenStackSettings): Promise<Credentials> {
  const { credentials, source } = await firstCredentials(call, sourcesOf(host, settings));
  return { ...credentials, source };
}

function sourcesOf(host: HostEnvironment, settings: OpenStackSettings): readonly CredentialSource<Omit<Credentials, 'source'>>[] {
  const { own, cloud, openrc } = settings;
  const named = cloud ?? host.variable('OS_CLOUD');
  const parameters = sourceOf('parameters', own, async () => ({ fields: own }));
  const clouds = sourceOf('clouds.yaml', own, (call) => cloudsFields(host, call, named));
  const environment = sourceOf('environment', own, async () => ({ fields: environmentFields((name) => host.variable(name)) }));
  const conf = sourceOf(CLOUD_CONF, own, async (call) => fileFields(await hostFile(host, call, CLOUD_CONF), cloudConfFields));
  if ((own.password ?? own.application_credential_secret) !== undefined) return [parameters];
  if (openrc !== undefined) return [sourceOf(`openrc ${openrc}`, own, async (call) => fileFields(await hostFile(host, call, openrc), openrcFields))];
  if (cloud !== undefined) return [clouds];
  return [parameters, ...(named === undefined ? [environment, clouds] : [clouds, environment]), conf];
}

function fileFields(text: string | undefined, fieldsIn: (text: string) => IdentityFields): Looked {
  return text === undefined ? { absent: 'there is none' } : { fields: fieldsIn(text) };
}

/** Whoever writes an auth URL beside a method has no credentials of this process sent there. */
function sourceOf(name: string, own: IdentityFields, look: (call: Call) => Promise<Looked>): CredentialSource<Omit<Credentials, 'source'>> {
  return {
    name,
    find: async (call) => {
      const looked = await look(call);
      if ('absent' in looked) return looked;
      const login = loginOf(looked.fields);
      if ('absent' in login) return login;
      if (own.auth_url !== undefined && versioned(own.auth_url) !== login.url) return { absent: 'its auth URL is another one than auth_url' };
      return { credentials: { login, fields: looked.fields } };
    },
  };
}
