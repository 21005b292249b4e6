import { z } from 'zod';

import type { ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { placeDocumentation, placeOf, placeProblems, placeShape } from '../shared/command/place.ts';
import { duration } from '../shared/duration.ts';
import { unresolvedProblems } from '../shared/first-trust/parameters.ts';
import { canonical, checkParameters, parseBoolean, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';
import type { SshSettings } from '../shared/ssh/parameters.ts';
import { parseRanges, type AddressRange } from './address-range.ts';

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,251}[A-Za-z0-9])?$/;
/** A word that can never be taken for an option, and no shell would mind. */
const ARGUMENT = /^[A-Za-z0-9_@%+=:,./-]+$/;

const boolean = z.string().transform((text, context) => {
  const value = parseBoolean(text);
  if (value === undefined) context.addIssue({ code: 'custom', message: 'must be yes or no' });
  return value ?? false;
});

const EXPIRY_MS = 365 * 86_400_000;

const schema = z.object({
  via: z.enum(['networkfence', 'exec'], 'must be networkfence or exec').default('networkfence'),
  cidrs: z.string().optional(),
  allow_ranges: boolean.default(false),
  driver: z.string().regex(NAME, 'must be the name of a CSI driver').optional(),
  class_name: z.string().regex(NAME, 'must be the name of a NetworkFenceClass').optional(),
  cluster_id: z.string().regex(NAME, 'must be a clusterID of the CSI driver').optional(),
  secret_name: z.string().regex(NAME, 'must be the name of a Secret').optional(),
  secret_namespace: z.string().regex(NAME, 'must be a namespace').optional(),
  kubeconfig: z.string().optional(),
  program: z
    .string()
    .regex(/^(\/[A-Za-z0-9_./-]+|[A-Za-z0-9][A-Za-z0-9_.-]*)$/, 'must be a program')
    .default('ceph'),
  arguments: z
    .string()
    .transform((text) => text.split(/\s+/).filter((word) => word !== ''))
    .refine((words) => words.every((word) => ARGUMENT.test(word)), 'must be words such as -n client.fence -c /etc/ceph/ceph.conf')
    .default([]),
  expiry: duration.default(EXPIRY_MS),
  ...placeShape,
});

export const cephParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    via: { description: '`networkfence`: csi-addons carries it out. `exec`: the `ceph` program.', default: 'networkfence' },
    cidrs: {
      description:
        'Addresses from which the node reaches the storage, separated by blanks; `{address}` in a ConfigMap is the node’s own, `{addresses}` all internal ones. The plug, where this is not given.',
      aliases: ['cidr', 'addresses'],
    },
    allow_ranges: { description: 'Let `cidrs` hold ranges of several addresses, all of which are shut out together.', default: 'no' },
    driver: { description: 'CSI driver, as `rbd.csi.ceph.com` (networkfence, without `class_name`).' },
    class_name: { description: 'NetworkFenceClass, which names driver, Secret and cluster (networkfence).', aliases: ['network_fence_class'] },
    cluster_id: { description: '`clusterID` of the CSI driver’s configuration (networkfence, with `driver`).' },
    secret_name: { description: 'Name of the driver’s Secret with a Ceph account that may use the blocklist (networkfence, with `driver`).' },
    secret_namespace: { description: 'Namespace of that Secret.' },
    kubeconfig: { description: 'Kubeconfig (its text) of the cluster in which csi-addons runs; the own one without it.', secret: true },
    program: { description: 'The `ceph` program (exec); without `ip` one of the controller’s folder of programs.', default: 'ceph' },
    arguments: {
      description:
        'What it is given first, as `-n client.fence -c ceph.conf` (exec); without `ip` files are named by their name in that folder. Keys belong into a keyring file.',
    },
    expiry: {
      description: 'When Ceph forgets the entry by itself (exec): much later than any fence ends.',
      default: '365d',
      aliases: ['blocklist_expiry'],
    },
    ...placeDocumentation,
  },
};

/** How one storage is closed to one node. */
export type CephSettings = { ranges: readonly AddressRange[] } & (NetworkFenceSettings | BlocklistSettings);

export interface NetworkFenceSettings {
  via: 'networkfence';
  driver: string | undefined;
  className: string | undefined;
  clusterID: string | undefined;
  secret: { name: string; namespace: string } | undefined;
}

export interface BlocklistSettings {
  via: 'exec';
  argv: readonly string[];
  expiryMs: number;
  place: SshSettings | undefined;
}

/** `plug`: stands in for `cidrs`. */
export function parseSettings(parameters: Parameters, plug: string): CephSettings | { problems: string[] } {
  const named = canonical(cephParameters, parameters);
  const problems = [...contradictions(named, true), ...unresolvedProblems(named)];
  const result = parsed(cephParameters, parameters);
  problems.push(...(result.error?.issues ?? []).map(({ path, message }) => ({ parameter: String(path[0]), message })));
  const text = named['cidrs'] ?? plug;
  const ranges = rangesOf(text, named);
  if (typeof ranges === 'string') problems.push({ parameter: 'cidrs', message: ranges });
  if (problems.length > 0 || !result.success || typeof ranges === 'string')
    return { problems: problems.map(({ parameter, message }) => `${parameter} ${message}`) };
  const value = result.data;
  if (value.via === 'exec') return { ranges, via: 'exec', argv: [value.program, ...value.arguments], expiryMs: value.expiry, place: placeOf(value) };
  const { secret_name: name, secret_namespace: namespace } = value;
  const secret = name === undefined || namespace === undefined ? undefined : { name, namespace };
  return { ranges, via: 'networkfence', driver: value.driver, className: value.class_name, clusterID: value.cluster_id, secret };
}

/** After how long Ceph forgets what it was told; undefined where csi-addons tells it, which says five years. */
export function expiryOf(parameters: Parameters): number | undefined {
  const { via, expiry } = canonical(cephParameters, parameters);
  if (via !== 'exec') return undefined;
  return expiry === undefined ? EXPIRY_MS : duration.safeParse(expiry).data;
}

/** Of the method's own parameters; a plug is not known there. */
export function problemsOf(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const named = canonical(cephParameters, parameters);
  const ranges = named['cidrs'] === undefined ? [] : rangesOf(named['cidrs'], named);
  return [
    ...checkParameters(cephParameters, parameters, withSecrets),
    ...(typeof ranges === 'string' ? [{ parameter: 'cidrs', message: ranges }] : []),
    ...contradictions(named, withSecrets),
  ];
}

function rangesOf(text: string, named: Readonly<Record<string, string>>): AddressRange[] | string {
  const ranges = parseRanges(text);
  if (typeof ranges === 'string' || parseBoolean(named['allow_ranges'] ?? 'no') === true) return ranges;
  return ranges.every(({ isHost }) => isHost) ? ranges : 'holds a range of several addresses: write allow_ranges=yes if all of them are this node';
}

function contradictions(named: Readonly<Record<string, string>>, withSecrets: boolean): ParameterProblem[] {
  if ((named['via'] ?? 'networkfence') === 'exec') return placeProblems(named, withSecrets);
  if (named['class_name'] === undefined && named['driver'] === undefined) return [{ parameter: 'driver', message: 'or class_name is missing' }];
  if ((named['secret_name'] === undefined) !== (named['secret_namespace'] === undefined))
    return [{ parameter: 'secret_name', message: 'and secret_namespace must be given together' }];
  return [];
}
