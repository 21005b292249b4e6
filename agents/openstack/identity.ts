/** All that says who asks, where and for what, under the names that clouds.yaml has; from wherever it comes. */
export interface IdentityFields {
  auth_url?: string | undefined;
  username?: string | undefined;
  user_id?: string | undefined;
  password?: string | undefined;
  user_domain_name?: string | undefined;
  user_domain_id?: string | undefined;
  project_name?: string | undefined;
  project_id?: string | undefined;
  project_domain_name?: string | undefined;
  project_domain_id?: string | undefined;
  application_credential_id?: string | undefined;
  application_credential_name?: string | undefined;
  application_credential_secret?: string | undefined;
  region?: string | undefined;
  interface?: string | undefined;
  /** Path of a file, or PEM. */
  ca?: string | undefined;
  isInsecure?: boolean | undefined;
}

/** One login, ready to be sent. */
export interface Login {
  /** With `/v3`, without a slash at the end. */
  url: string;
  body: unknown;
  secrets: readonly string[];
}

/** The login that these fields mean, or what is missing of it. Source: Identity API v3, "Authentication and token management". */
export function loginOf(fields: IdentityFields): Login | { absent: string } {
  const { auth_url: url, password, application_credential_secret: secret } = fields;
  if (secret !== undefined) return url === undefined ? { absent: 'no auth URL' } : applicationLogin(fields, url, secret);
  if (password === undefined) return { absent: 'no password and no application credential' };
  const user = userOf(fields);
  const project = projectOf(fields);
  if (url === undefined) return { absent: 'no auth URL' };
  if (user === undefined) return { absent: 'no user' };
  if (project === undefined) return { absent: 'no project' };
  const identity = { methods: ['password'], password: { user: { ...user, password } } };
  return { url: versioned(url), body: { auth: { identity, scope: { project } } }, secrets: [password] };
}

/** It is bound to a project already: with a scope besides, Keystone refuses it. */
function applicationLogin(fields: IdentityFields, url: string, secret: string): Login | { absent: string } {
  const { application_credential_id: id, application_credential_name: name } = fields;
  const user = userOf(fields);
  if (id === undefined && (name === undefined || user === undefined))
    return { absent: 'an application credential without an id, and without its name and user' };
  const credential = id === undefined ? { name, user, secret } : { id, secret };
  return {
    url: versioned(url),
    body: { auth: { identity: { methods: ['application_credential'], application_credential: credential } } },
    secrets: [secret],
  };
}

function userOf({ username, user_id, user_domain_id, user_domain_name }: IdentityFields): object | undefined {
  if (user_id !== undefined) return { id: user_id };
  return username === undefined ? undefined : { name: username, domain: domainOf(user_domain_id, user_domain_name) };
}

function projectOf(fields: IdentityFields): object | undefined {
  const { project_id, project_name, user_domain_id, user_domain_name, project_domain_id, project_domain_name } = fields;
  if (project_id !== undefined) return { id: project_id };
  const isSaid = project_domain_id !== undefined || project_domain_name !== undefined;
  const domain = isSaid ? domainOf(project_domain_id, project_domain_name) : domainOf(user_domain_id, user_domain_name);
  return project_name === undefined ? undefined : { name: project_name, domain };
}

/** `default` is the id of the domain that every Keystone begins with, whatever its name is now. */
function domainOf(id: string | undefined, name: string | undefined): object {
  if (id !== undefined) return { id };
  return name === undefined ? { id: 'default' } : { name };
}

/** An auth URL is written with its version, without it, or with an older one. */
export function versioned(url: string): string {
  const bare = url.replace(/\/+$/, '').replace(/\/v(?:2\.0|3)$/, '');
  return `${bare}/v3`;
}
