import { z } from 'zod';

import type { ParameterSchema } from '../shared/parameter-schema.ts';

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const KEY = /^[-._a-zA-Z0-9]{1,253}$/;
const LINE = /^[A-Za-z][-_A-Za-z0-9]*=[^\p{Cc};]*$/u;

const oneLine = z.string().regex(/^\P{Cc}*$/u, 'must be one line');

const schema = z.object({
  pod_template: z.string().refine((text) => {
    const [name = '', key = '', ...more] = text.split('/');
    return NAME.test(name) && KEY.test(key) && more.length === 0;
  }, 'must be <name of a ConfigMap>/<key in it>'),
  ip: oneLine.optional(),
  username: oneLine.optional(),
  options: oneLine
    .refine((text) => optionLines(text).every((line) => LINE.test(line)), 'must be name=value, several of them with ; between them')
    .refine(
      (text) => optionLines(text).every((line) => !OWN_LINES.has(line.split('=', 1)[0] ?? '')),
      'may not set action, plug, nodename, ip, username',
    )
    .optional(),
});

const OWN_LINES: ReadonlySet<string> = new Set(['action', 'plug', 'nodename', 'ip', 'username']);

export const jobParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    pod_template: {
      description: 'Where the pod template is: `<ConfigMap>/<key>` in the namespace of the fence controller. It has one container; see below.',
      required: true,
      aliases: ['podTemplate'],
    },
    ip: {
      description:
        'Address of the device: handed on, and what calls are queued by. Without it all methods with one pod template run one after another.',
      aliases: ['ipaddr'],
    },
    username: { description: 'Handed on. A password belongs into the Secret of the method, which is mounted.', aliases: ['login'] },
    options: { description: 'More lines for the file of arguments: `ipport=161;snmp_version=3`.' },
  },
};

export type JobParameters = z.infer<typeof schema>;

/** The lines that `options` stands for. */
export function optionLines(options: string | undefined): string[] {
  return (options ?? '')
    .split(';')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** A pod that stands these lands on nodes that are being given up. */
const TAINTS_OF_FAILED_NODES = /^node\.kubernetes\.io\/(?:not-ready|unreachable|out-of-service)$|^nodefence\.ha\.k8s\.io\//;

const requirements = z.array(z.looseObject({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() })).optional();
const selectorTerm = z.looseObject({ matchExpressions: requirements, matchFields: requirements });

/** What a pod template may be; the API server judges the rest of it. */
export const podTemplateSchema = z.looseObject({
  metadata: z
    .looseObject({ labels: z.record(z.string(), z.string()).optional(), annotations: z.record(z.string(), z.string()).optional() })
    .optional(),
  spec: z.looseObject({
    containers: z.array(z.looseObject({ name: z.string(), volumeMounts: z.array(z.looseObject({})).optional() })).length(1),
    volumes: z.array(z.looseObject({ name: z.string() })).optional(),
    restartPolicy: z.literal('Never').optional(),
    terminationGracePeriodSeconds: z.number().int().min(0).optional(),
    automountServiceAccountToken: z.boolean().optional(),
    nodeName: z.undefined('must not be there: the pod could not be kept off the node').optional(),
    tolerations: z
      .array(z.looseObject({ key: z.string().optional() }))
      .refine(
        (all) => all.every(({ key = '' }) => key !== '' && !TAINTS_OF_FAILED_NODES.test(key)),
        'must not tolerate every taint, or those of failed nodes',
      )
      .optional(),
    affinity: z
      .looseObject({
        nodeAffinity: z
          .looseObject({ requiredDuringSchedulingIgnoredDuringExecution: z.looseObject({ nodeSelectorTerms: z.array(selectorTerm) }).optional() })
          .optional(),
      })
      .optional(),
  }),
});
