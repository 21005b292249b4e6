import { z } from 'zod';

import type { InstanceAddress, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { checkParameters, parsed, type Documentation, type ParameterSchema } from '../shared/parameter-schema.ts';
import { booleanWord, LOGIN_TIMEOUT, loginTimeout, trustDocumentation, trustOf, trustShape } from '../shared/web/parameters.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';

const REGION = /^[a-z]{2,}(?:-[a-z]+)+-\d+$/;
const INSTANCE = /^i-[0-9a-f]{8,17}$/;
const URL_TEXT = /^https?:\/\/[^\s/?#]+(?:\/[^\s?#]*)?$/;

const url = z.string().regex(URL_TEXT, 'must be a URL such as https://ec2.eu-central-1.amazonaws.com');

const access = {
  region: z.string().regex(REGION, 'must be a region such as eu-central-1').optional(),
  access_key: z
    .string()
    .regex(/^\w{4,128}$/, 'must be an access key id')
    .optional(),
  secret_key: z.string().optional(),
  session_token: z.string().optional(),
  profile: z.string().optional(),
  role_arn: z
    .string()
    .regex(/^arn:[a-z-]+:iam::\d{12}:role\/\S+$/, 'must be a role such as arn:aws:iam::123456789012:role/fence')
    .optional(),
  external_id: z.string().optional(),
  endpoint: url.optional(),
  sts_endpoint: url.optional(),
};
const trust = { ...trustShape, login_timeout: loginTimeout };

const ACCESS_DOCUMENTATION = {
  region: {
    description: 'Region of the instance. Without it: the zone in the providerID, `AWS_REGION`, the profile, the region of our own instance.',
  },
  access_key: { description: 'Access key id. Without it: the chain of credentials below.', fromSecret: true },
  secret_key: { description: 'Secret access key.', fromSecret: true, secret: true },
  session_token: { description: 'Session token of temporary credentials.', fromSecret: true, secret: true },
  profile: { description: 'Profile of the shared files; `AWS_PROFILE`, then `default` without it.' },
  role_arn: { description: 'Role to assume with these credentials.' },
  external_id: { description: 'External id that the role demands.' },
  endpoint: {
    description:
      'URL of the EC2 API, for private endpoints; `AWS_ENDPOINT_URL_EC2` and `AWS_ENDPOINT_URL` without it. A host that is not of AWS, or is trusted by `ca`, `ssl_fingerprint` or `ssl_insecure`, is given no credentials but those of the parameters.',
  },
  sts_endpoint: { description: 'URL of the STS API; `AWS_ENDPOINT_URL_STS` and `AWS_ENDPOINT_URL` without it.' },
} satisfies Record<keyof typeof access, Documentation>;
const TRUST_DOCUMENTATION = { ...trustDocumentation('endpoint', 'instance'), login_timeout: LOGIN_TIMEOUT };

const instanceSchema = z.object({ ...access, autoscaling_endpoint: url.optional(), skip_os_shutdown: booleanWord.default(true), ...trust });

export const awsParameters: ParameterSchema<typeof instanceSchema> = {
  schema: instanceSchema,
  documentation: {
    ...ACCESS_DOCUMENTATION,
    autoscaling_endpoint: {
      description: 'URL of the Auto Scaling API, for `action=delete`; `AWS_ENDPOINT_URL_AUTO_SCALING` and `AWS_ENDPOINT_URL` without it.',
    },
    skip_os_shutdown: {
      description: 'Stop without the shutdown of the operating system. `no` waits for a system that may hang, up to some minutes.',
      default: 'yes',
    },
    ...TRUST_DOCUMENTATION,
  },
};

const KEPT = /^(?:vol-[0-9a-f]{8,17}|(?:\/dev\/)?[a-z]+[0-9]*)(?:[\s,]+(?:vol-[0-9a-f]{8,17}|(?:\/dev\/)?[a-z]+[0-9]*))*$/;

const volumeSchema = z.object({
  ...access,
  keep: z.string().trim().regex(KEPT, 'must be volumes or devices such as vol-0123456789abcdef0 /dev/xvdb').optional(),
  ...trust,
});

export const volumeParameters: ParameterSchema<typeof volumeSchema> = {
  schema: volumeSchema,
  documentation: {
    ...ACCESS_DOCUMENTATION,
    keep: {
      description:
        'Volumes, by their ids or their devices as EC2 names them, that stay attached: those of the system itself, on which no pod of the storage writes. The root volume stays in any case.',
    },
    ...TRUST_DOCUMENTATION,
  },
};

const groupSchema = z.object({
  ...access,
  group: z
    .string()
    .regex(/^sg-[0-9a-f]{8,17}$/, 'must be the id of a security group such as sg-0123456789abcdef0')
    .optional(),
  ...trust,
});

export const groupParameters: ParameterSchema<typeof groupSchema> = {
  schema: groupSchema,
  documentation: {
    ...ACCESS_DOCUMENTATION,
    group: { description: 'Security group that lets nothing through, in the VPC of the instance.', required: true, aliases: ['security_group'] },
    ...TRUST_DOCUMENTATION,
  },
};

/** What requests are signed with. */
export interface Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken: string | undefined;
  /** Infinity: until somebody changes them. */
  expiresAtMs: number;
}

/** One account of AWS; equal settings share one. */
export interface AwsAccess {
  region: string | undefined;
  keys: { accessKeyId: string; secretAccessKey: string; sessionToken: string | undefined } | undefined;
  profile: string | undefined;
  roleArn: string | undefined;
  externalId: string | undefined;
  endpoint: string | undefined;
  stsEndpoint: string | undefined;
  /** Of agents that may end an instance. */
  autoscalingEndpoint?: string | undefined;
  trust: Trust;
}

/** Names of the services used here, and nothing else of amazonaws.com: below it stand machines, load balancers and APIs of anybody (AWS general reference). */
const OF_AWS =
  /^(?:vpce-[\w-]+\.(?:ec2|sts|autoscaling)\.[a-z]{2,}(?:-[a-z]+)+-\d+\.vpce|(?:ec2|sts|autoscaling)(?:-fips)?(?:\.[a-z]{2,}(?:-[a-z]+)+-\d+)?)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;

/**
 * A host that parameters name and that is none of AWS', or not over TLS, or whose certificate is trusted by these parameters alone: the name of a private endpoint
 * leads to any address that its maker wants. Undefined: there is none.
 */
export function foreignHost({
  endpoint,
  stsEndpoint,
  autoscalingEndpoint,
  trust: { insecure, ca, fingerprint },
}: Pick<AwsAccess, 'endpoint' | 'stsEndpoint' | 'autoscalingEndpoint' | 'trust'>): string | undefined {
  const named = [endpoint, stsEndpoint, autoscalingEndpoint].flatMap((text) => (text === undefined ? [] : [new URL(text)]));
  const isOwnTrust = insecure || ca !== undefined || fingerprint !== undefined;
  return named.find(({ protocol, hostname }) => isOwnTrust || protocol !== 'https:' || !OF_AWS.test(hostname))?.host;
}

export interface InstanceSettings extends AwsAccess {
  skipOsShutdown: boolean;
}

export interface VolumeSettings extends AwsAccess {
  /** Ids, and devices without `/dev/`. */
  keep: readonly string[];
}

export interface GroupSettings extends AwsAccess {
  /** Of isolation. */
  group: string;
}

/** What is wrong with the parameters of one of the agents. */
export function awsProblems<S extends z.ZodObject>(source: ParameterSchema<S>): (parameters: Parameters, withSecrets: boolean) => ParameterProblem[] {
  return (parameters, withSecrets) => {
    const problems = checkParameters(source, parameters, withSecrets);
    const { access_key: id, secret_key: secret } = parameters;
    if (withSecrets && (id ?? '') !== '' && (secret ?? '') === '')
      problems.push({ parameter: 'secret_key', message: 'is missing: it belongs to access_key' });
    if (withSecrets && (id ?? '') === '' && (secret ?? '') !== '')
      problems.push({ parameter: 'access_key', message: 'is missing: it belongs to secret_key' });
    return problems;
  };
}

type Settings<T> = T | { problems: readonly string[] };

export function instanceSettings(parameters: Parameters): Settings<InstanceSettings> {
  return settingsBy(awsParameters, parameters, (value) => ({
    ...accessOf(value),
    skipOsShutdown: value.skip_os_shutdown,
    autoscalingEndpoint: value.autoscaling_endpoint,
  }));
}

export function volumeSettings(parameters: Parameters): Settings<VolumeSettings> {
  return settingsBy(volumeParameters, parameters, (value) => ({ ...accessOf(value), keep: keptOf(value.keep) }));
}

export function groupSettings(parameters: Parameters): Settings<GroupSettings> {
  return settingsBy(groupParameters, parameters, (value) => ({ ...accessOf(value), group: value.group ?? '' }));
}

function keptOf(written = ''): string[] {
  return written
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/^\/dev\//, ''));
}

/** Typed settings of complete parameters, or the problems in words. */
function settingsBy<S extends z.ZodObject, T>(
  source: ParameterSchema<S>,
  parameters: Parameters,
  settingsOf: (value: z.output<S>) => T,
): Settings<T> {
  const problems = awsProblems(source)(parameters, true).map(({ parameter, message }) => `${parameter} ${message}`);
  const result = parsed(source, parameters);
  return result.success && problems.length === 0 ? settingsOf(result.data) : { problems };
}

function accessOf(value: z.output<z.ZodObject<typeof access & typeof trust>>): AwsAccess {
  const { access_key: accessKeyId, secret_key: secretAccessKey, session_token: sessionToken } = value;
  return {
    region: value.region,
    keys: accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey, sessionToken },
    profile: value.profile,
    roleArn: value.role_arn,
    externalId: value.external_id,
    endpoint: value.endpoint,
    stsEndpoint: value.sts_endpoint,
    trust: trustOf(value),
  };
}

export function instanceProblem(plug: string): string | undefined {
  if (plug === '') return 'plug is missing: the id of the instance, such as i-0123456789abcdef0';
  return INSTANCE.test(plug) ? undefined : `${plug.slice(0, 60)} is no id of an instance, such as i-0123456789abcdef0`;
}

/** `aws:///<zone>/<instance>`, `aws:////<instance>`. Source: cloud-provider-aws, pkg/providers/v1/instances.go. Fargate has no instance. */
export function awsInstance(providerID: string): InstanceAddress | undefined {
  const [, zone = '', plug = ''] = /^aws:\/\/[^/]*\/([^/]*)\/(?:[^/]*\/)*([^/]+)$/.exec(providerID) ?? [];
  if (!INSTANCE.test(plug)) return undefined;
  const region = regionOf(zone);
  return { plug, parameters: region === undefined ? {} : { region } };
}

/** The region of an availability, local or wavelength zone: `us-west-2-lax-1a` is one of us-west-2. */
function regionOf(zone: string): string | undefined {
  return /^[a-z]{2,}(?:-[a-z]+)+-\d+/.exec(zone)?.[0];
}
