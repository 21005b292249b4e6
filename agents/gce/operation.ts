import { deviceMessage } from '../shared/ssh/words.ts';
import { listAt, member, textAt } from '../shared/web/web-client.ts';

/** A zone operation as the API shows it. */
export interface GceOperation {
  name: string;
  status: string;
  /** Why it ended without effect: `RESOURCE_NOT_READY: ...`; undefined where it says none. */
  failure: string | undefined;
}

/** The operation in an answer; undefined where there is none. */
export function operationIn(body: unknown): GceOperation | undefined {
  const [name, status] = [textAt(body, 'name'), textAt(body, 'status')];
  if (name === undefined || !/^[a-z0-9-]{1,255}$/.test(name) || status === undefined) return undefined;
  return { name, status: deviceMessage(status, []), failure: failureIn(body) };
}

function failureIn(body: unknown): string | undefined {
  if (member(body, 'error') === undefined) return undefined;
  const errors = listAt(body, 'error', 'errors').map((one) => `${textAt(one, 'code') ?? '(no code)'}: ${textAt(one, 'message') ?? ''}`);
  return deviceMessage(errors.length > 0 ? errors.join('; ') : JSON.stringify(member(body, 'error')), []);
}
