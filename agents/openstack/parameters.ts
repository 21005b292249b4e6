import { z } from 'zod';

import type { InstanceAddress, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { checkParameters, parsed, type Documentation, type ParameterSchema } from '../shared/parameter-schema.ts';
import { booleanWord, LOGIN_TIMEOUT, loginTimeout, trustDocumentation, trustShape } from '../shared/web/parameters.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NAME_MAX = 255;

const plain = z.string().max(NAME_MAX, `must have at most ${NAME_MAX} characters`).optional();
const path = z.string().regex(/^\/[^\0]*$/, 'must be the absolute path of a file');

const schema = z.object({
  auth_url: z
    .string()
    .regex(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/, 'must be the URL of Keystone, such as https://keystone.example.com:5000/v3')
    .optional(),
  username: plain,
  user_id: plain,
  password: z.string().optional(),
  user_domain_name: plain,
  user_domain_id: plain,
  project_name: plain,
  project_id: plain,
  project_domain_name: plain,
  project_domain_id: plain,
  application_credential_id: plain,
  application_credential_name: plain,
  application_credential_secret: z.string().optional(),
  cloud: plain,
  openrc: path.optional(),
  region: plain,
  interface: z.enum(['public', 'internal', 'admin'], 'must be public, internal or admin').optional(),
  system_uuid: booleanWord.default(true),
  apitimeout: z.string().optional(),
  ...trustShape,
  ca: z.union([path, trustShape.ca.unwrap()], 'must be one or more certificates in PEM form, or the absolute path of a file with them').optional(),
  login_timeout: loginTimeout,
});

function documented(description: string, ...aliases: readonly string[]): Documentation {
  return aliases.length === 0 ? { description } : { description, aliases };
}

export const openstackParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    auth_url: documented('URL of Keystone, with or without `/v3`.'),
    username: { description: 'Name of the user.', aliases: ['login'], fromSecret: true },
    user_id: { description: 'Id of the user, in the place of name and domain.', fromSecret: true },
    password: { description: 'Password of the user.', aliases: ['passwd'], fromSecret: true, secret: true },
    user_domain_name: documented('Domain of the user; the one with the id `default` without it.', 'domain_name'),
    user_domain_id: documented('Id of the domain of the user.', 'domain_id'),
    project_name: documented('Project of the servers.', 'tenant_name'),
    project_id: documented('Id of the project.', 'tenant_id'),
    project_domain_name: documented('Domain of the project; that of the user without it.'),
    project_domain_id: documented('Id of the domain of the project.'),
    application_credential_id: { description: 'Id of an application credential; it needs its secret and no project.', fromSecret: true },
    application_credential_name: { description: 'Name of an application credential of the user.', fromSecret: true },
    application_credential_secret: { description: 'Secret of the application credential.', fromSecret: true, secret: true },
    cloud: documented('Name of a cloud in `clouds.yaml`; `OS_CLOUD` without it.', 'os_cloud'),
    openrc: documented('Absolute path of a file that sets `OS_` variables, in the container of the controller.'),
    region: documented("Region; that of the Node's providerID or of the credentials without it, or the only one.", 'region_name'),
    interface: { description: 'Which of its addresses the catalog shall give: `public`, `internal`, `admin`.', aliases: ['endpoint_type'] },
    system_uuid: {
      description: "Compare the id of the server with the Node's system UUID. `no` only for bare metal (ironic), whose firmware has another one.",
      default: 'yes',
    },
    apitimeout: documented('Accepted from configurations of fence_openstack, and not used: `set_deadline` bounds each call.'),
    ...trustDocumentation('cloud', 'state'),
    ca: {
      description: "Certificates (PEM) that may sign the cloud's, or the absolute path of a file with them; the system's otherwise.",
      aliases: ['ssl_ca', 'cacert'],
    },
    login_timeout: LOGIN_TIMEOUT,
  },
};

export type OpenStackValues = z.output<typeof schema>;

/** What belongs together, and half of it is there. */
export function openstackProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const problems = checkParameters(openstackParameters, parameters, withSecrets);
  const result = parsed(openstackParameters, parameters);
  if (!withSecrets || !result.success) return problems;
  const value = result.data;
  const missing = (parameter: keyof OpenStackValues, to: string): void => {
    problems.push({ parameter, message: `is missing: it belongs to ${to}` });
  };
  const hasUser = value.username !== undefined || value.user_id !== undefined;
  if (value.password !== undefined && !hasUser) missing('username', 'password');
  if (value.username !== undefined && value.password === undefined && value.application_credential_secret === undefined)
    missing('password', 'username');
  if ((value.password ?? value.application_credential_secret) !== undefined && value.auth_url === undefined)
    missing('auth_url', value.password === undefined ? 'application_credential_secret' : 'password');
  if (
    value.application_credential_secret !== undefined &&
    value.application_credential_id === undefined &&
    !(hasUser && value.application_credential_name !== undefined)
  )
    missing('application_credential_id', 'application_credential_secret');
  if (
    value.password !== undefined &&
    value.application_credential_secret === undefined &&
    value.project_name === undefined &&
    value.project_id === undefined
  )
    missing('project_name', 'password');
  return problems;
}

export function plugProblem(plug: string): string | undefined {
  if (plug === '') return 'plug is missing: the id of the server, or its name where no other server bears it';
  return plug.length > NAME_MAX || /\p{Cc}/u.test(plug) ? 'plug is no id and no name of a server' : undefined;
}

export function isId(plug: string): boolean {
  return UUID.test(plug);
}

/** `openstack://[region]/<id of the server>`. Source: cloud-provider-openstack, pkg/openstack/instances.go. */
export function openstackInstance(providerID: string): InstanceAddress | undefined {
  const [, region = '', plug = ''] = /^openstack:\/\/([^/]*)\/([^/]+)$/.exec(providerID) ?? [];
  if (!UUID.test(plug)) return undefined;
  return { plug: plug.toLowerCase(), parameters: region === '' ? {} : { region } };
}
