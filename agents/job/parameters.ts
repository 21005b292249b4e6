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
      description: 'Where the pod template stands: `<ConfigMap>/<key>` in the namespace of the fence controller. It has one container; see below.',
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
