import { AgentError, type FailureDiagnostic } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { membersOf } from './collection.ts';
import type { Device } from './device.ts';
import { ExchangeError } from './exchange-error.ts';
import { logsOf } from './logs.ts';
import { quirkOf } from './quirks.ts';
import { screenshotOf } from './screenshot.ts';
import { SessionLost } from './session.ts';
import { isObject, linkPath, listAt, objectAt, type JsonObject } from './words.ts';

const MANAGERS_MAX = 2;

/**
 * What the device recorded of the call's machine: its logs, then a picture of its console. A part that cannot be had is left out, or says
 * in the device's words why; only a device that cannot be read at all, or shows another machine, fails the call.
 */
export async function diagnosticsOf(device: Device, call: Call): Promise<FailureDiagnostic[]> {
  const view = await device.subject.view(call);
  if (view.resource === undefined) throw call.error('Unreachable', view.detail);
  const diagnostics: FailureDiagnostic[] = [];
  const managers = await tolerant(() => managersOf(device, call, view.resource ?? {}), []);
  const quirk = quirkOf(view.resource, ...managers);
  await tolerant(() => logsOf(device.session, call, [view.resource, ...managers], quirk, diagnostics), undefined);
  if (quirk?.screenshot !== undefined) {
    const way = quirk.screenshot;
    const picture = await tolerant(() => screenshotOf(device.session, call, managers, way), undefined);
    if (picture !== undefined) diagnostics.push(picture);
  }
  return diagnostics;
}

async function managersOf(device: Device, call: Call, system: JsonObject): Promise<JsonObject[]> {
  const linked = listAt(objectAt(system, 'Links'), 'ManagedBy').map(linkPath);
  const paths = linked.filter((path) => path !== undefined).slice(0, MANAGERS_MAX);
  if (paths.length === 0) {
    const collection = linkPath(objectAt((await device.session.root(call)).body, 'Managers'));
    const members = collection === undefined ? [] : await membersOf(device.session, call, collection, MANAGERS_MAX);
    paths.push(...members.map(({ path }) => path));
  }
  const managers: JsonObject[] = [];
  for (const path of paths) {
    const response = await device.session.get(call, path);
    if (response.status === 200 && isObject(response.body)) managers.push(response.body);
  }
  return managers;
}

/** Something is better than nothing: what was gathered before a part failed counts. */
async function tolerant<T>(part: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await part();
  } catch (error) {
    if (error instanceof ExchangeError || error instanceof AgentError || error instanceof SessionLost) return otherwise;
    throw error;
  }
}
