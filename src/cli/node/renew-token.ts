import { HttpsTransport } from '../../kube/https-transport.ts';
import { loadServerConfig } from '../../kube/kubeconfig/kubeconfig.ts';
import { messageOf } from '../../node/core/message-of.ts';
import { renewedToken, writeToken } from '../../node/shell/own-token.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { VERSION } from '../version.ts';

const DEADLINE_MS = 10_000;

export interface TokenToRenew {
  nodeName: string;
  fenceNamespace: string;
  kubeconfig?: string;
  file: string;
}

/** Says until when the new one is good, never what it is. */
export async function renewToken(choice: TokenToRenew): Promise<void> {
  const { nodeName: node, fenceNamespace: namespace, kubeconfig, file } = choice;
  const clock = new SystemClock();
  try {
    const server = await loadServerConfig({ environment: process.env, clock, ...(kubeconfig === undefined ? {} : { path: kubeconfig }) });
    const transport = new HttpsTransport({ server, clock, userAgent: `nodefence-node/${VERSION}` });
    const { token, expiresAt } = await renewedToken(transport, { node, namespace, deadlineMs: DEADLINE_MS }).finally(() => transport.close());
    writeToken(file, token);
    process.stdout.write(`${file} holds a token of Node ${node} that is good until ${expiresAt}\n`);
  } catch (error) {
    process.stderr.write(`the token of Node ${node} was not renewed, and the old one stands in ${file}: ${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}
