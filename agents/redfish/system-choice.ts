import type { Call } from '../shared/call.ts';
import { normalUUID } from '../shared/machine-uuid.ts';
import { idOf } from './collection.ts';
import { checkIdentity } from './identity.ts';
import type { RedfishSettings } from './parameters.ts';
import { unexpected } from './resource-view.ts';
import type { Session } from './session.ts';
import { plain, textAt, type JsonObject } from './words.ts';

/** Which of the device's ComputerSystems a call means; never a guess. */
export async function chooseSystem(session: Session, settings: RedfishSettings, call: Call, members: readonly string[]): Promise<string> {
  const { plug } = call.target;
  const only = members[0];
  if (only === undefined) throw call.error('Misconfigured', 'the device has no ComputerSystem');
  if (plug !== '') {
    const named = members.find((path) => idOf(path) === plug) ?? (await chooseById(session, call, members, plug));
    if (named !== undefined) return named;
    throw call.error('Misconfigured', `no ComputerSystem is called ${plug}; there are ${members.join(', ')}`);
  }
  if (settings.systemUUID !== undefined || settings.serial !== undefined) return chooseByMark(session, settings, call, members);
  if (members.length === 1) return only;
  throw call.error(
    'Misconfigured',
    `the device has ${members.length} ComputerSystems (${members.join(', ')}): choose one by systems_uri, system_uuid or serial`,
  );
}

/** A path need not end with the Id of what is there. */
async function chooseById(session: Session, call: Call, members: readonly string[], id: string): Promise<string | undefined> {
  const matches: string[] = [];
  for (const path of members) {
    const response = await session.get(call, path);
    if (response.status >= 500 || response.status === 429) throw unexpected(session, call, path, response);
    if (textAt(response.body, 'Id') === id) matches.push(path);
  }
  return matches.length === 1 ? matches[0] : undefined;
}

/** By UUID and SerialNumber, as configured; exactly one may match. */
async function chooseByMark(session: Session, settings: RedfishSettings, call: Call, members: readonly string[]): Promise<string> {
  const { systemUUID, serial } = settings;
  const shown: string[] = [];
  const matches: string[] = [];
  for (const path of members) {
    const response = await session.get(call, path);
    if (response.status >= 500 || response.status === 429) throw unexpected(session, call, path, response);
    const uuid = textAt(response.body, 'UUID');
    const number = textAt(response.body, 'SerialNumber');
    shown.push(plain(`${path} (UUID ${uuid ?? 'none'}, SerialNumber ${number ?? 'none'})`, []));
    const isUUID = systemUUID === undefined || (normalUUID(uuid) !== undefined && checkIdentity(uuid, systemUUID).kind === 'verified');
    if (isUUID && (serial === undefined || number === serial)) matches.push(path);
  }
  const only = matches[0];
  if (only !== undefined && matches.length === 1) return only;
  const asked = [systemUUID === undefined ? '' : `UUID ${systemUUID}`, serial === undefined ? '' : `SerialNumber ${serial}`]
    .filter((part) => part !== '')
    .join(' and ');
  throw call.error('Misconfigured', `${matches.length === 0 ? 'no' : 'more than one'} ComputerSystem has ${asked}; there are ${shown.join(', ')}`);
}

/**
 * The UUID or SerialNumber of another machine than the configured one, in words: a path or a plug that is given besides does not outweigh it, nor
 * one that was found earlier. A device that shows none says nothing: some do not while the machine is off.
 */
export function otherMark({ systemUUID, serial }: RedfishSettings, system: JsonObject): string | undefined {
  const uuid = textAt(system, 'UUID');
  if (systemUUID !== undefined && checkIdentity(uuid, systemUUID).kind === 'other')
    return plain(`UUID ${uuid ?? ''}, but system_uuid is ${systemUUID}`, []);
  const number = textAt(system, 'SerialNumber') ?? '';
  return serial === undefined || number === '' || number === serial ? undefined : plain(`SerialNumber ${number}, but serial is ${serial}`, []);
}
