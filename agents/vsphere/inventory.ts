import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import { normalUUID, withGroupsSwapped } from '../shared/machine-uuid.ts';
import type { XmlElement } from '../shared/xml.ts';
import { isUUID } from './parameters.ts';
import type { Session } from './sessions.ts';
import { invoke, SoapFault, type SoapRequest } from './soap.ts';
import { childOf, childrenOf, objectOf, objectXml, textOf, textXml, type ManagedObject } from './vim-xml.ts';

/** More machines than this are not looked through for a name. */
const PAGES_MAX = 40;
const PAGE = 500;

/** One session, as a function that asks it. */
export type Ask = (request: SoapRequest) => Promise<XmlElement>;

export function askOf(call: Call, { endpoint }: Session): Ask {
  return async (request) => (await invoke(call, endpoint, request)).response;
}

/**
 * The machines that a plug names: the UUID of a firmware in either byte order, an inventory path (`DC0/vm/folder/name`) or a name. Several where it says too little.
 */
export async function machinesNamed(call: Call, session: Session, plug: string): Promise<readonly ManagedObject[]> {
  const ask = askOf(call, session);
  if (isUUID(plug)) return machinesOfUUID(ask, session, plug.trim().toLowerCase());
  if (plug.includes('/')) return machinesAt(ask, session, plug);
  const named: ManagedObject[] = [];
  for await (const { object, name } of allMachines(call, session, ['name'])) if (isNamed(name ?? '', plug)) named.push(object);
  return named;
}

/** vSphere escapes three characters in names; both spellings are taken. Source: ManagedEntity.name, vSphere API reference. */
export function isNamed(name: string, wanted: string): boolean {
  return name === wanted || name.replaceAll(/%2f/gi, '/').replaceAll(/%5c/gi, '\\').replaceAll(/%25/g, '%') === wanted;
}

/** Copies of a machine may have its UUID: with FindByUuid nobody would know of the others. */
async function machinesOfUUID(ask: Ask, { content }: Session, uuid: string): Promise<readonly ManagedObject[]> {
  const digits = normalUUID(uuid);
  const swapped = digits === undefined ? uuid : withGroupsSwapped(digits).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  for (const written of new Set([uuid, swapped])) {
    const found = await foundByUUID(ask, content.searchIndex, written);
    if (found.length > 0) return found;
  }
  return [];
}

async function foundByUUID(ask: Ask, searchIndex: ManagedObject, uuid: string): Promise<readonly ManagedObject[]> {
  const body = `${textXml('uuid', uuid)}<vmSearch>true</vmSearch>`;
  try {
    return objectsOf(await ask({ method: 'FindAllByUuid', on: searchIndex, body }));
  } catch (error) {
    // A simulator has the older method only.
    if (!(error instanceof SoapFault) || error.fault !== 'MethodNotFound') throw error;
    return objectsOf(await ask({ method: 'FindByUuid', on: searchIndex, body }));
  }
}

async function machinesAt(ask: Ask, { content }: Session, path: string): Promise<readonly ManagedObject[]> {
  const body = textXml('inventoryPath', path.replace(/^\/+/, ''));
  const found = objectsOf(await ask({ method: 'FindByInventoryPath', on: content.searchIndex, body }));
  return found.filter(({ type }) => type === 'VirtualMachine');
}

function objectsOf(response: XmlElement): ManagedObject[] {
  return childrenOf(response, 'returnval').flatMap((element) => objectOf(element) ?? []);
}

interface Listed {
  object: ManagedObject;
  name: string | undefined;
  /** The first value of each property that was asked for. */
  value: (path: string) => string | undefined;
}

/** Every machine that this user may see, page by page. */
export async function* allMachines(call: Call, session: Session, paths: readonly string[]): AsyncGenerator<Listed, void, undefined> {
  const ask = askOf(call, session);
  const { viewManager, propertyCollector, rootFolder } = session.content;
  if (viewManager === undefined) throw call.error('Misconfigured', 'this service has no views: name the machine by its UUID or its inventory path');
  const type = textXml('type', 'VirtualMachine');
  const created = await ask({
    method: 'CreateContainerView',
    on: viewManager,
    body: `${objectXml('container', rootFolder)}${type}<recursive>true</recursive>`,
  });
  const [view] = objectsOf(created);
  if (view === undefined) throw call.error('Unreachable', 'a view of the machines was not made');
  try {
    const traversal = '<selectSet xsi:type="TraversalSpec"><type>ContainerView</type><path>view</path><skip>false</skip></selectSet>';
    const wanted = paths.map((path) => textXml('pathSet', path)).join('');
    const spec = `<specSet><propSet>${type}${wanted}</propSet><objectSet>${objectXml('obj', view)}<skip>true</skip>${traversal}</objectSet></specSet>`;
    const options = `<options><maxObjects>${PAGE}</maxObjects></options>`;
    let page = childOf(await ask({ method: 'RetrievePropertiesEx', on: propertyCollector, body: spec + options }), 'returnval');
    for (let pages = 1; ; pages += 1) {
      yield* listedOf(page);
      const token = textOf(page, 'token');
      if (token === undefined) return;
      if (pages === PAGES_MAX)
        throw call.error('Misconfigured', `there are more than ${PAGES_MAX * PAGE} machines: name it by its UUID or its inventory path`);
      page = childOf(await ask({ method: 'ContinueRetrievePropertiesEx', on: propertyCollector, body: textXml('token', token) }), 'returnval');
    }
  } finally {
    // It would end with the session; what has failed already is told.
    await ask({ method: 'DestroyView', on: view }).catch(() => undefined);
  }
}

function* listedOf(page: XmlElement | undefined): Generator<Listed, void, undefined> {
  for (const element of childrenOf(page, 'objects')) {
    const object = objectOf(childOf(element, 'obj'));
    if (object === undefined) continue;
    const values = new Map(childrenOf(element, 'propSet').map((each) => [textOf(each, 'name'), textOf(each, 'val')]));
    yield { object, name: values.get('name'), value: (path) => values.get(path) };
  }
}

interface Kept {
  object: ManagedObject;
  untilMs: number;
}

const KEPT_MAX = 1_000;
/** A second machine may come to bear a name, and a copy or a restored one a UUID, while the first still shows it: who bears it now is asked anew after this. */
const KNOWN_MS = 60_000;

/** Which machine a plug names, as it was found just now. */
export class KnownMachines {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get(plug: string): ManagedObject | undefined {
    const kept = this.#kept.get(plug);
    return kept === undefined || kept.untilMs <= this.#clock.monotonicMs() ? undefined : kept.object;
  }

  set(plug: string, object: ManagedObject): void {
    this.#kept.delete(plug);
    this.#kept.set(plug, { object, untilMs: this.#clock.monotonicMs() + KNOWN_MS });
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > KEPT_MAX && oldest.done !== true) this.#kept.delete(oldest.value);
  }

  drop(plug: string): void {
    this.#kept.delete(plug);
  }

  clear(): void {
    this.#kept.clear();
  }
}
