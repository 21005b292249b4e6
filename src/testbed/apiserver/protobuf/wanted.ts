import { textAt, type JsonObject } from '../json.ts';
import { parseResourcePath, type ServerRequest } from '../request.ts';
import { isEncoded } from './encode.ts';

export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const WATCHED: readonly string[] = ['/nodes', '/pods', 'coordination.k8s.io/leases', 'storage.k8s.io/volumeattachments'];

/** Is it what the client would have first? */
export function wantsProtobuf({ accept = '' }: ServerRequest): boolean {
  const [first = ''] = accept.split(',');
  return first.trim() === PROTOBUF || first.trim() === `${PROTOBUF};stream=watch`;
}

/** Has this answer a table? Others are answered in JSON, as a real server answers for what definitions define. */
export function isInProtobuf(body: JsonObject): boolean {
  return isEncoded(textAt(body, 'apiVersion'), textAt(body, 'kind'));
}

export function isWatchedInProtobuf(path: string): boolean {
  const { group = '', version = '', plural = '' } = parseResourcePath(path) ?? {};
  return version === 'v1' && WATCHED.includes(`${group}/${plural}`);
}
