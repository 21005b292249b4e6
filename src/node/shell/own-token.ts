import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { NODE_ACCOUNT, TOKEN_SECONDS_MAX } from '../../domain/node-daemon/account.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import type { ApiTransport } from '../../ports/api-transport.ts';

export interface RenewedToken {
  token: string;
  /** As the API server says it: it may grant less than was asked for. */
  expiresAt: string;
}

interface TokenRequest {
  status?: { token?: string; expirationTimestamp?: string };
}

/** Another token in place of the one that this request is made with, bound to the same Node. */
export async function renewedToken(
  transport: Pick<ApiTransport, 'request'>,
  { node, namespace, deadlineMs }: { node: string; namespace: string; deadlineMs: number },
): Promise<RenewedToken> {
  const response = await transport.request({
    method: 'POST',
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${NODE_ACCOUNT}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: TOKEN_SECONDS_MAX, boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: node } },
    },
    deadlineMs,
  });
  if (response.status === 201) {
    const { token = '', expirationTimestamp = '' } = (response.body as TokenRequest).status ?? {};
    if (token === '') throw new Error('the API server answered without a token');
    return { token, expiresAt: expirationTimestamp };
  }
  const { message, reason } = response.body as { message?: string; reason?: string };
  throw new ApiStatusError(response.status, reason ?? '', `${message ?? `HTTP ${response.status}`}${HINTS[response.status] ?? ''}`);
}

const HINTS: Readonly<Record<number, string>> = {
  401: ' (the token has ended: give this node one by hand, as systemd/README.md says)',
  403: ' (is config/node-daemon-token installed, and is the token bound to this Node?)',
};

/** Whole or not at all, also when the machine goes down meanwhile: the daemon reads it while it runs, and after the next boot. */
export function writeToken(path: string, token: string): void {
  const temporary = `${path}.new`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(temporary, 'w', 0o600);
  try {
    // The mode above is for a file that was not there.
    chmodSync(temporary, 0o600);
    writeSync(file, token);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
