import type { Call } from '../shared/call.ts';
import type { Session } from './session.ts';
import { isObject, linkPath, listAt, objectAt, textAt, type JsonObject } from './words.ts';

/** An action as its resource advertises it (DSP0266 "Actions"). */
export interface AdvertisedAction {
  /** As advertised; never built from the resource's own path. */
  target: string;
  /** Values of the parameter that the device says it takes; undefined where it says nothing. */
  allowed: readonly string[] | undefined;
  /** Where the list stands when it is not inline. */
  actionInfo: string | undefined;
}

function strings(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

/** Undefined where the resource does not offer the action. */
export function advertised(resource: JsonObject, name: string, parameter: string): AdvertisedAction | undefined {
  const action = objectAt(objectAt(resource, 'Actions'), name);
  const target = linkPath(action?.['target']);
  if (target === undefined) return undefined;
  const inline = strings(listAt(action, `${parameter}@Redfish.AllowableValues`));
  const actionInfo = linkPath(action?.['@Redfish.ActionInfo']);
  return { target, allowed: inline.length === 0 ? undefined : inline, actionInfo: inline.length === 0 ? actionInfo : undefined };
}

/** The list of a device that keeps it in an ActionInfo; undefined where that says nothing usable. */
export async function allowedByActionInfo(session: Session, call: Call, path: string, parameter: string): Promise<readonly string[] | undefined> {
  const response = await session.get(call, path);
  if (response.status !== 200 || !isObject(response.body)) return undefined;
  const entry = listAt(response.body, 'Parameters').find((each) => textAt(each, 'Name') === parameter);
  const values = strings(listAt(entry, 'AllowableValues'));
  return values.length === 0 ? undefined : values;
}
