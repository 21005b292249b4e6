import { Agent, request } from 'node:https';

/**
 * What fence_redfish asks of a BMC for an off (read, reset, read), by Node's own HTTPS client over a connection of its own: no session, no certificate and no
 * machine is checked, and the answers' words are not read. What a program in Node cannot do without.
 */
export async function bareOff(parameters: Readonly<Record<string, string>>, systemUri: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  try {
    const reset = JSON.stringify({ ResetType: 'ForceOff' });
    await ask(agent, parameters, 'GET', systemUri);
    await ask(agent, parameters, 'POST', `${systemUri}/Actions/ComputerSystem.Reset`, reset);
    await ask(agent, parameters, 'GET', systemUri);
  } finally {
    agent.destroy();
  }
}

function ask(agent: Agent, parameters: Readonly<Record<string, string>>, method: string, path: string, body?: string): Promise<void> {
  const { ip, ipport, username = '', password = '' } = parameters;
  const headers = {
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const call = request({ host: ip, port: ipport, agent, method, path, headers }, (response) => {
      response.resume().once('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode >= 200 && statusCode < 300) resolve();
        else reject(new Error(`${method} ${path}: HTTP ${statusCode}`));
      });
    });
    call.once('error', reject);
    call.end(body);
  });
}
