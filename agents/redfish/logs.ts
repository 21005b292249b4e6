import type { FailureDiagnostic } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { idOf } from './collection.ts';
import type { Quirk } from './quirks.ts';
import type { Session } from './session.ts';
import { isObject, linkPath, listAt, numberAt, plain, textAt, type JsonObject } from './words.ts';

const SERVICES_MAX = 3;
/** Entries that a collection shows by link only are asked for one by one. */
const LINKED_MAX = 24;
const ENTRIES_MAX = 200;
const SERVICES_LOOKED_AT = 12;

/** Appends one diagnostic for each of the best logs of these resources (ComputerSystem, Managers): its newest entries, oldest first. */
export async function logsOf(
  session: Session,
  call: Call,
  resources: readonly unknown[],
  quirk: Quirk | undefined,
  diagnostics: FailureDiagnostic[],
): Promise<void> {
  const services: string[] = [];
  for (const resource of resources) {
    const collection = isObject(resource) ? linkPath(resource['LogServices']) : undefined;
    if (collection === undefined) continue;
    const response = await session.get(call, collection);
    if (response.status !== 200) continue;
    services.push(
      ...listAt(response.body, 'Members')
        .map(linkPath)
        .filter((path) => path !== undefined)
        .slice(0, SERVICES_LOOKED_AT),
    );
  }
  const ranked = services.toSorted((left, right) => rankOf(left, quirk) - rankOf(right, quirk)).slice(0, SERVICES_MAX);
  for (const service of ranked) {
    const entries = await entriesOf(session, call, service);
    if (entries.length === 0) continue;
    const isFirst = !diagnostics.some(({ name }) => name === 'sel');
    const lines = entries.map((entry) => lineOf(entry, session.secrets));
    diagnostics.push({
      name: isFirst ? 'sel' : `log-${plain(idOf(service), [])}`,
      mediaType: 'text/plain',
      content: new TextEncoder().encode(`${[`# ${plain(service, session.secrets)}`, ...lines].join('\n')}\n`),
    });
  }
}

/** The vendor's own order, then what is called SEL, then the rest. */
function rankOf(service: string, quirk: Quirk | undefined): number {
  const id = idOf(service);
  const known = quirk?.logs?.findIndex((name) => name.toLowerCase() === id.toLowerCase()) ?? -1;
  if (known >= 0) return known;
  return /sel|event/i.test(id) ? 100 : 101;
}

async function entriesOf(session: Session, call: Call, service: string): Promise<JsonObject[]> {
  const described = await session.get(call, service);
  const collection = (isObject(described.body) ? linkPath(described.body['Entries']) : undefined) ?? `${service.replace(/\/$/, '')}/Entries`;
  const found = new Map<string, JsonObject>();
  const links: string[] = [];
  const first = await session.get(call, collection);
  const count = numberAt(first.body, 'Members@odata.count') ?? 0;
  const shown = listAt(first.body, 'Members').length;
  gather(first.body, found, links);
  if (first.status === 200 && count > shown) {
    // Which end is the newest differs by vendor: the other end is asked for too, and the dates decide.
    const rest = await session.get(call, `${collection}?$skip=${Math.max(shown, count - ENTRIES_MAX)}`);
    if (rest.status === 200) gather(rest.body, found, links);
  }
  const ends = links.length <= LINKED_MAX ? links : [...links.slice(0, LINKED_MAX / 2), ...links.slice(-LINKED_MAX / 2)];
  for (const path of ends) {
    const response = await session.get(call, path);
    if (response.status === 200 && isObject(response.body)) found.set(path, response.body);
  }
  return [...found.values()].toSorted((left, right) => timeOf(left) - timeOf(right)).slice(-ENTRIES_MAX);
}

function gather(collection: unknown, found: Map<string, JsonObject>, links: string[]): void {
  for (const member of listAt(collection, 'Members')) {
    const path = linkPath(member);
    if (path === undefined || !isObject(member)) continue;
    if ('Message' in member || 'Created' in member) found.set(path, member);
    else links.push(path);
  }
}

/** Entries without a date stay where they stood: before the dated ones. */
function timeOf(entry: JsonObject): number {
  const atMs = Date.parse(textAt(entry, 'Created') ?? textAt(entry, 'EventTimestamp') ?? '');
  return Number.isNaN(atMs) ? 0 : atMs;
}

function lineOf(entry: JsonObject, secrets: readonly string[]): string {
  const parts = ['Created', 'Severity', 'MessageId', 'Message'].map((key) => textAt(entry, key) ?? '');
  return plain(parts.filter((part) => part !== '').join(' '), secrets);
}
