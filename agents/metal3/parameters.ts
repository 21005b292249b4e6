import { z } from 'zod';

import type { ParameterSchema } from '../shared/parameter-schema.ts';

const NAME = '[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?';

const schema = z.object({
  host: z
    .string()
    .regex(new RegExp(`^(${NAME}/)?${NAME}$`), 'must be the name of a BareMetalHost, or namespace/name')
    .optional(),
  namespace: z
    .string()
    .regex(new RegExp(`^${NAME}$`), 'must be a namespace')
    .optional(),
  kubeconfig: z.string().optional(),
});

export const metal3Parameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    host: {
      description: 'Name of the BareMetalHost, or `namespace/name`. Without it, and without a plug, the providerID of the Node or its Machine tells.',
      aliases: ['baremetalhost', 'bmh'],
    },
    namespace: { description: 'Namespace of the BareMetalHost, where `host` names none.' },
    kubeconfig: {
      description:
        'Kubeconfig (its text) of the cluster that holds the BareMetalHosts; the own cluster without it. It may name no file and no program.',
      secret: true,
    },
  },
};

export type Metal3Parameters = z.infer<typeof schema>;
