import { z } from 'zod';

import type { ParameterSchema } from '../shared/parameter-schema.ts';

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const schema = z.object({
  vm: z.string().regex(NAME, 'must be the name of a VirtualMachine').optional(),
  namespace: z.string().regex(NAME, 'must be a namespace').optional(),
  hosts: z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter((name) => name !== ''))
    .refine((names) => names.every((name) => NAME.test(name)), 'must be names of Nodes, with commas between them')
    .default([]),
  kubeconfig: z.string().optional(),
});

export const kubevirtParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    vm: {
      description: 'Name of the VirtualMachine, where no plug names it. Without both, the providerID of the Node (`kubevirt://<name>`) tells.',
      aliases: ['virtualmachine'],
    },
    namespace: { description: 'Namespace of the VirtualMachine in the infrastructure cluster.', required: true },
    hosts: {
      description:
        'Names of all Nodes of the infrastructure cluster that could run the machine, with commas between them. Only with these can a machine without a launcher pod be known to be off.',
    },
    kubeconfig: {
      description: 'Kubeconfig (its text) of the infrastructure cluster; the own cluster without it. It may name no file and no program.',
      secret: true,
    },
  },
};

/** `kubevirt://<name>`. Source: kubevirt/cloud-provider-kubevirt. */
export function providedName(providerID: string | undefined): string | undefined {
  return /^kubevirt:\/\/([^/]+)$/.exec(providerID ?? '')?.[1];
}
