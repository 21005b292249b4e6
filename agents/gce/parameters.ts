import { z } from 'zod';

import { parseBoolean, type ParameterSchema } from '../shared/parameter-schema.ts';
import { LOGIN_TIMEOUT, loginTimeout, trustDocumentation, trustShape } from '../shared/web/parameters.ts';
import { isSafe } from './endpoints.ts';

/** As the discovery document of Compute Engine v1 spells them. */
const PROJECT = /^(?:(?:[-a-z0-9]{1,63}\.)*(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?):)?(?:[0-9]{1,19}|[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)$/;
const ZONE = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const ZONE_MAP = /^[a-z0-9-]+[:=][a-z][a-z0-9-]*(?:\s*,\s*[a-z0-9-]+[:=][a-z][a-z0-9-]*)*$/;

function refused(why: string): z.ZodOptional<z.ZodString> {
  return z
    .string()
    .refine((word) => parseBoolean(word) === false, why)
    .optional();
}

/** Of the ClusterLabs agent; our calls have deadlines of their own. */
const unused = z.string().optional();

const schema = z.object({
  project: z.string().regex(PROJECT, 'must be the id or the number of a project').optional(),
  zone: z.string().regex(ZONE, 'must be the name of one zone, as europe-west3-a').optional(),
  plugzonemap: z.string().regex(ZONE_MAP, 'must be pairs of instance and zone, as worker-1:europe-west3-a,worker-2:europe-west3-b').optional(),
  instance_id: z
    .string()
    .regex(/^[1-9][0-9]{0,19}$/, 'must be the numeric id of the instance')
    .optional(),
  serviceaccount: z
    .string()
    .regex(/^\s*[{/]/, 'must be the JSON of a credential file, or the absolute path of one')
    .optional(),
  method: z.enum(['onoff'], 'must be onoff: after a reset nobody can read whether the machine was ever off').default('onoff'),
  endpoint: z.string().refine(isSafe, 'must be an https URL, as https://compute.googleapis.com').optional(),
  baremetalsolution: refused('must be no: the state of a Bare Metal Solution server cannot be read'),
  proxyhost: z
    .string()
    .refine(
      () => false,
      'is not supported: nothing is sent through a proxy, which would see the token; let the controller reach the endpoints itself',
    )
    .optional(),
  apitimeout: unused,
  retries: unused,
  retrysleep: unused,
  ...trustShape,
  login_timeout: loginTimeout,
});

const UNUSED = 'Accepted from configurations of fence_gce, and not used: `set_deadline` bounds each call.';

export const gceParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    project: { description: "The project; that of the Node's providerID without it." },
    zone: { description: "The zone; that of the Node's providerID without it." },
    plugzonemap: { description: 'Zones of single instances, as `worker-1:europe-west3-a,worker-2:europe-west3-b`; `zone` counts for the others.' },
    instance_id: {
      description:
        'Numeric id that the instance must have. GKE writes it on each Node: `instance_id={annotation:container.googleapis.com/instance_id}`. Without it an address of the Node has to be among those of the instance.',
    },
    serviceaccount: {
      description:
        'A credential file of Google as JSON (from a Secret), or the absolute path of one. Without it the credentials of the controller itself count.',
      secret: true,
      aliases: ['service_account'],
    },
    method: { description: 'Only `onoff`. A reset proves nothing.', default: 'onoff' },
    endpoint: {
      description:
        'Address of the Compute Engine API, such as a Private Service Connect endpoint. One that is not of googleapis.com needs a `serviceaccount` (JSON of a key).',
      default: 'https://compute.googleapis.com',
    },
    baremetalsolution: { description: 'Only `no`.' },
    proxyhost: { description: 'Not supported.' },
    apitimeout: { description: UNUSED },
    retries: { description: UNUSED },
    retrysleep: { description: UNUSED },
    ...trustDocumentation('cloud', 'state'),
    login_timeout: LOGIN_TIMEOUT,
  },
};
