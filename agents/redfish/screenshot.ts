import type { FailureDiagnostic } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { advertised } from './action.ts';
import type { RedfishResponse } from './connection.ts';
import type { ScreenshotWay } from './quirks.ts';
import type { Session } from './session.ts';
import { isObject, linkPath, textAt, type JsonObject } from './words.ts';

const BYTES_MAX = 1024 * 1024;
const SIGNATURES: readonly { mediaType: string; bytes: readonly number[] }[] = [
  { mediaType: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47] },
  { mediaType: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { mediaType: 'image/bmp', bytes: [0x42, 0x4d] },
];

/** A picture of the console in the vendor's way; undefined where the device does not offer it. A refusal is shown in the device's words. */
export async function screenshotOf(
  session: Session,
  call: Call,
  managers: readonly JsonObject[],
  way: ScreenshotWay,
): Promise<FailureDiagnostic | undefined> {
  const response = way.file === undefined ? await byAction(session, call, managers, way) : await session.file(call, way.file.path, way.file.cookie);
  if (response === undefined || response.status === 404 || response.status === 405) return undefined;
  if (response.status >= 300) return textDiagnostic(session.describe(response));
  const picture = pictureIn(response, way);
  if (picture !== undefined) return picture;
  const link = linkPath(response.headers['location']) ?? linkPath(response.body);
  const followed = link === undefined ? undefined : pictureIn(await session.get(call, link), way);
  return followed ?? textDiagnostic(`${session.describe(response)}: no picture of at most ${BYTES_MAX} bytes`);
}

async function byAction(session: Session, call: Call, managers: readonly JsonObject[], way: ScreenshotWay): Promise<RedfishResponse | undefined> {
  if (way.action === undefined) return undefined;
  for (const manager of managers) {
    const path = linkPath(way.link.reduce<unknown>((found, key) => (isObject(found) ? found[key] : undefined), manager));
    const resource = path === undefined || way.link.length === 0 ? manager : (await session.get(call, path)).body;
    const action = isObject(resource) ? advertised(resource, way.action.name, '') : undefined;
    if (action !== undefined) return session.change(call, { method: 'POST', path: action.target, body: way.action.body });
  }
  return undefined;
}

function pictureIn(response: RedfishResponse, { field }: ScreenshotWay): FailureDiagnostic | undefined {
  const text = field === undefined ? undefined : textAt(response.body, field);
  const content = text === undefined ? response.bytes : new Uint8Array(Buffer.from(text, 'base64'));
  const kind = SIGNATURES.find(({ bytes }) => bytes.every((byte, index) => content[index] === byte));
  if (kind === undefined || content.length > BYTES_MAX || response.status >= 300) return undefined;
  return { name: 'screenshot', mediaType: kind.mediaType, content };
}

function textDiagnostic(message: string): FailureDiagnostic {
  return { name: 'screenshot', mediaType: 'text/plain', content: new TextEncoder().encode(`${message}\n`) };
}
