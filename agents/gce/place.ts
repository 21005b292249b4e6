import { canonical } from '../shared/parameter-schema.ts';
import type { Parameters } from '../../src/ports/agents.ts';
import { gceParameters } from './parameters.ts';

/** Where an instance is. */
export interface Place {
  project: string;
  zone: string;
  /** Its name, or its numeric id. */
  instance: string;
  /** What its numeric id has to be. */
  instanceId: string | undefined;
}

/** Of what the API takes as the name or the id of an instance. */
const INSTANCE = /^(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?|[1-9][0-9]{0,19})$/;

/** `gce://project/zone/name`. Source: kubernetes/cloud-provider-gcp, providers/gce/gce_util.go. */
export function provided(providerID: string | undefined): Omit<Place, 'instanceId'> | undefined {
  const [, project, zone, instance] = /^gce:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(providerID ?? '') ?? [];
  return project === undefined || zone === undefined || instance === undefined ? undefined : { project, zone, instance };
}

/** A numeric id instead of a name. */
export function isNumeric(instance: string): boolean {
  return /^[0-9]+$/.test(instance);
}

/** Where the plug is, by the parameters; or why that cannot be said. */
export function placeOf(plug: string, parameters: Parameters): Place | { problem: string } {
  const { project, zone, plugzonemap, instance_id } = canonical(gceParameters, parameters);
  if (!INSTANCE.test(plug)) return { problem: `plug ${JSON.stringify(plug.slice(0, 80))} must be the name of an instance or its numeric id` };
  const inZone = zonesOf(plugzonemap).get(plug) ?? zone;
  if (project === undefined) return { problem: 'nothing says the project of the instance: write project=' };
  if (inZone === undefined) return { problem: 'nothing says the zone of the instance: write zone=' };
  return { project, zone: inZone, instance: plug, instanceId: instance_id };
}

/** `name:zone,name:zone`; `=` is taken as well. */
function zonesOf(written = ''): Map<string, string> {
  const pairs = written.split(',').map((pair) => pair.split(/[:=]/).map((part) => part.trim()));
  return new Map(pairs.flatMap(([name = '', zone = '']) => (name === '' || zone === '' ? [] : [[name, zone] as const])));
}
