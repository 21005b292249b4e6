import { z } from 'zod';

import type { InstanceAddress, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { checkParameters, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';
import { booleanWord, LOGIN_TIMEOUT, loginTimeout, trustDocumentation, trustOf, trustShape } from '../shared/web/parameters.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';

const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const GROUP = /^[\p{L}\p{N}_().-]{0,89}[\p{L}\p{N}_()-]$/u;
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,79}$/u;
const NUMBER = /^\d{1,10}$/;

const url = z.string().regex(/^https?:\/\/[^\s/?#]+\/?$/, 'must be a URL without a path, such as https://management.azure.com');
const no = (why: string) => booleanWord.default(false).refine((isWanted) => !isWanted, why);

const schema = z.object({
  subscriptionId: z.string().regex(GUID, 'must be the id of a subscription').optional(),
  resourceGroup: z.string().regex(GROUP, 'must be the name of a resource group').optional(),
  vmss: z.string().regex(NAME, 'must be the name of a scale set').optional(),
  tenantId: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must be the id of a tenant')
    .optional(),
  username: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must be the id of an application (client id)')
    .optional(),
  password: z.string().optional(),
  msi: booleanWord.default(false),
  cloud: z
    .enum(['public', 'usgov', 'china'], 'must be public, usgov or china; for others write endpoint=, authority= and audience=')
    .default('public'),
  endpoint: url.optional(),
  authority: url.optional(),
  audience: url.optional(),
  deallocate: booleanWord.default(false),
  network_fencing: no('is not supported: a network that is cut off is no instance that is stopped'),
  metadata_endpoint: z.never('is not supported: write endpoint=, authority= and audience=').optional(),
  ...trustShape,
  login_timeout: loginTimeout,
});

export const azureParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    subscriptionId: { description: 'Subscription of the instance; the providerID says it.', aliases: ['subscriptionid', 'subscription_id'] },
    resourceGroup: { description: 'Resource group of the instance; the providerID says it.', aliases: ['resourcegroup', 'resource_group'] },
    vmss: { description: 'Scale set in uniform mode, of which the plug is an instance number; the providerID says it.' },
    tenantId: { description: 'Tenant of the application; `AZURE_TENANT_ID` without it.', aliases: ['tenantid', 'tenant_id'] },
    username: {
      description: 'Client id of the application, or of a managed identity. Without it: the chain of credentials below.',
      aliases: ['login', 'client_id'],
      fromSecret: true,
    },
    password: { description: 'Client secret of the application.', aliases: ['passwd', 'client_secret'], fromSecret: true, secret: true },
    msi: { description: 'Use the managed identity and no other credentials.', default: 'no' },
    cloud: { description: 'Cloud with hosts of its own: `public`, `usgov`, `china`.', default: 'public' },
    endpoint: {
      description:
        'URL of Azure Resource Manager, where it is another one; `NODEFENCE_AZURE_ENDPOINT` without it. A host that is not of Azure is given no credentials but those of the parameters.',
    },
    authority: { description: 'URL that gives tokens, where it is another one; `AZURE_AUTHORITY_HOST` without it.' },
    audience: { description: 'What tokens are asked for, where it is another one.' },
    deallocate: { description: 'Stop by deallocating: slower, and the instance may not find room again.', default: 'no' },
    network_fencing: { description: 'Only `no`: a network that is cut off is no proof.', default: 'no', aliases: ['network-fencing'] },
    metadata_endpoint: {
      description: 'Not supported: write `endpoint`, `authority` and `audience`.',
      aliases: ['metadata-endpoint', 'stack_domain', 'stack-domain'],
    },
    ...trustDocumentation('endpoint', 'instance'),
    login_timeout: LOGIN_TIMEOUT,
  },
};

/**
 * Hosts of each cloud (Microsoft Learn, "Azure Government developer guide", "Azure China developer guide" and, for tokens, "National clouds" of the identity
 * platform; `login.chinacloudapi.cn` is an alias of the one of China).
 */
const CLOUDS = {
  public: { endpoint: 'https://management.azure.com', authority: 'https://login.microsoftonline.com' },
  usgov: { endpoint: 'https://management.usgovcloudapi.net', authority: 'https://login.microsoftonline.us' },
  china: { endpoint: 'https://management.chinacloudapi.cn', authority: 'https://login.partner.microsoftonline.cn' },
};

/** One account of Azure; equal settings share one. */
export interface AzureSettings {
  subscriptionId: string | undefined;
  resourceGroup: string | undefined;
  vmss: string | undefined;
  tenantId: string | undefined;
  clientId: string | undefined;
  clientSecret: string | undefined;
  isManaged: boolean;
  /** As written; the environment may name another. */
  endpoint: string | undefined;
  cloudEndpoint: string;
  /** A host that parameters name and that is none of Azure's; undefined: there is none. */
  foreignHost: string | undefined;
  /** As written; the environment may name another. */
  authority: string | undefined;
  cloudAuthority: string;
  audience: string;
  deallocates: boolean;
  trust: Trust;
}

export function azureProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const problems = checkParameters(azureParameters, parameters, withSecrets);
  const result = parsed(azureParameters, parameters);
  if (!withSecrets || !result.success) return problems;
  const { username, password, msi } = result.data;
  if (password !== undefined && username === undefined) problems.push({ parameter: 'username', message: 'is missing: it belongs to password' });
  if (username !== undefined && password === undefined && !msi)
    problems.push({ parameter: 'password', message: 'is missing: it belongs to username; for a managed identity write msi=yes' });
  return problems;
}

/** Typed settings of complete parameters, or the problems in words. */
export function azureSettings(parameters: Parameters): AzureSettings | { problems: readonly string[] } {
  const problems = azureProblems(parameters, true).map(({ parameter, message }) => `${parameter} ${message}`);
  const result = parsed(azureParameters, parameters);
  if (!result.success || problems.length > 0) return { problems };
  const value = result.data;
  const hosts = CLOUDS[value.cloud];
  return {
    subscriptionId: value.subscriptionId,
    resourceGroup: value.resourceGroup,
    vmss: value.vmss,
    tenantId: value.tenantId,
    clientId: value.username,
    clientSecret: value.password,
    isManaged: value.msi,
    endpoint: value.endpoint === undefined ? undefined : plain(value.endpoint),
    cloudEndpoint: hosts.endpoint,
    foreignHost: [value.endpoint, value.authority].map(foreignHostIn).find((host) => host !== undefined),
    authority: value.authority === undefined ? undefined : plain(value.authority),
    cloudAuthority: hosts.authority,
    audience: plain(value.audience ?? hosts.endpoint),
    deallocates: value.deallocate,
    trust: trustOf(value),
  };
}

const OWN_ORIGINS = new Set(['https://login.chinacloudapi.cn', ...Object.values(CLOUDS).flatMap(({ endpoint, authority }) => [endpoint, authority])]);

function foreignHostIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const { origin, host } = new URL(text);
  return OWN_ORIGINS.has(origin) ? undefined : host;
}

function plain(text: string): string {
  return text.replace(/\/$/, '');
}

export function plugProblem(plug: string): string | undefined {
  if (plug === '') return 'plug is missing: the name of the virtual machine, or SCALE-SET/NUMBER';
  const [first = '', number, ...more] = plug.split('/');
  const isWell = NAME.test(first) && more.length === 0 && (number === undefined || NUMBER.test(number));
  return isWell ? undefined : `${plug.slice(0, 60)} is no name of a virtual machine, and no SCALE-SET/NUMBER`;
}

/**
 * `azure:///subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/VM`, or `…/virtualMachineScaleSets/SS/virtualMachines/N`, in any case
 * of letters. Source: cloud-provider-azure, azure_vmss.go. A scale set in flexible mode has plain machines.
 */
export function azureInstance(providerID: string): InstanceAddress | undefined {
  const path = /^azure:\/\/\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/(.+)$/i.exec(providerID);
  const [, subscriptionId = '', resourceGroup = '', rest = ''] = path ?? [];
  const [, vmss, plug = ''] = /^(?:virtualMachineScaleSets\/([^/]+)\/)?virtualMachines\/([^/]+)$/i.exec(rest) ?? [];
  if (!GUID.test(subscriptionId) || !GROUP.test(resourceGroup)) return undefined;
  if (vmss === undefined) return NAME.test(plug) ? { plug, parameters: { subscriptionId, resourceGroup } } : undefined;
  return NAME.test(vmss) && NUMBER.test(plug) ? { plug, parameters: { subscriptionId, resourceGroup, vmss } } : undefined;
}
