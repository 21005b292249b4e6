import { z } from 'zod';

import type { ParameterSchema } from '../shared/parameter-schema.ts';

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const schema = z.object({
  vm: z.string().regex(NAME, 'must be the name of a VirtualMachine').optional(),
  namespace: z.string().regex(NAME, 'must be a namespace').optional(),
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
