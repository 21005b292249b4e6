// Runs a pod as a kubelet does, by CRI (runtime.v1): `node pod.mjs IMAGE UID COMMAND`. It has none of the daemon's own code for CRI.
import { connect } from 'node:http2';
import { createConnection } from 'node:net';

const [image, uid, command] = process.argv.slice(2);
const session = connect('http://localhost', { createConnection: () => createConnection('/run/containerd/containerd.sock') });

function varint(value) {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

/** [number, value] pairs: text, number, or a list of pairs. */
function message(fields) {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.concat([varint(number << 3), varint(value)]);
      const bytes = Array.isArray(value) ? message(value) : Buffer.from(value);
      return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
    }),
  );
}

function call(method, fields) {
  const body = message(fields);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  const { promise, resolve, reject } = Promise.withResolvers();
  const request = session.request({
    ':method': 'POST',
    ':path': `/runtime.v1.RuntimeService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const chunks = [];
  let status = {};
  for (const event of ['response', 'trailers']) request.on(event, (headers) => (status = { ...status, ...headers }));
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('error', reject);
  request.on('close', () => {
    const answer = Buffer.concat(chunks);
    if (status['grpc-status'] === '0') resolve(answer.subarray(5));
    else reject(new Error(`${method}: ${status['grpc-status']} ${decodeURIComponent(status['grpc-message'] ?? '')}`));
  });
  request.end(Buffer.concat([prefix, body]));
  return promise;
}

/** Both answers begin with the id: field 1, text of fewer than 128 bytes. */
const idOf = (answer) => answer.subarray(2, 2 + answer[1]).toString();

const NODE_NETWORK = 2;
const metadata = [
  [1, 'counter'],
  [2, uid],
  [3, 'default'],
];
const slice = `kubepods-besteffort-pod${uid.replaceAll('-', '_')}.slice`;
const sandbox = [
  [1, metadata],
  [
    8,
    [
      [1, slice],
      [
        2,
        [
          [1, [[1, NODE_NETWORK]]],
          [6, 1],
        ],
      ],
    ],
  ],
];
const pod = idOf(await call('RunPodSandbox', [[1, sandbox]]));
const container = [
  [1, [[1, 'counter']]],
  [2, [[1, image]]],
  [3, '/bin/sh'],
  [4, '-c'],
  [4, command],
  [15, [[2, [[2, 1]]]]],
];
const id = idOf(
  await call('CreateContainer', [
    [1, pod],
    [2, container],
    [3, sandbox],
  ]),
);
await call('StartContainer', [[1, id]]);
process.stdout.write(`${pod}\n`);
session.destroy();
