import { createHash, X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { Command, InvalidArgumentError } from 'commander';
import { CommandFailure, EXIT, failureOf } from './commands/failure.ts';
import { processConsole } from './commands/terminal/console.ts';
import { harmless } from './commands/terminal/text.ts';
import { usageExits } from './usage-exits.ts';

interface Address {
  host: string;
  port: number;
}

const HTTPS = 443;
const DEADLINE_MS = 10_000;

/** `nodefence probe <address>`: what a device shows before anybody logs in; no password is sent, and nothing is believed. */
export function probeCommand(): Command {
  return usageExits(new Command('probe'))
    .description('show the certificate of a device, so that you can compare and pin it; sends no login')
    .argument('<address>', 'HOST or HOST:PORT of a BMC, a PDU or a switch', addressOf)
    .option('--show-fingerprint', 'the SHA-256 fingerprint of its certificate, as ssl_fingerprint= takes it; shown without this flag too')
    .addHelpText('after', '\nExit codes: 0 shown, 1 no certificate was shown, 2 wrong usage.')
    .action(async (address: Address) => {
      const console = processConsole();
      try {
        console.print(describeCertificate(await certificateOf(address), address));
      } catch (error) {
        console.say(`nodefence: ${failureOf(error, undefined).words}`);
        process.exitCode = EXIT.failed;
      }
    });
}

/** The certificate that the device shows; it is not judged here. */
export function certificateOf({ host, port }: Address): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false, minVersion: 'TLSv1.2' });
    const end = (conclude: () => void): void => {
      socket.destroy();
      conclude();
    };
    const fail = (why: string): void => end(() => reject(new CommandFailure(`${host}:${port} showed no certificate: ${why}`)));
    socket.setTimeout(DEADLINE_MS, () => fail(`no answer within ${DEADLINE_MS / 1000} s`));
    socket.once('error', ({ message }: Error) => fail(harmless(message)));
    socket.once('secureConnect', () => {
      const { raw } = socket.getPeerCertificate();
      // Without one the library gives an empty object.
      if (!Buffer.isBuffer(raw)) fail('it has none');
      else end(() => resolve(new X509Certificate(raw)));
    });
  });
}

export function describeCertificate({ raw, subject, issuer, validTo }: X509Certificate, { host, port }: Address): string {
  const fingerprint = createHash('sha256').update(raw).digest('hex');
  const name = (text: string): string => harmless(text.replaceAll('\n', ', '));
  return [
    `ssl_fingerprint=${fingerprint}`,
    `shown by ${host}:${port}: ${name(subject)}; issued by ${name(issuer)}; valid until ${validTo}`,
    'Compare it with what the device shows on its own console before you pin it: an attacker on the path can show another one.',
  ].join('\n');
}

function addressOf(text: string): Address {
  const [, bracketed, plain, port] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|([^:\s/]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const number = port === undefined ? HTTPS : Number(port);
  if (host === undefined || number < 1 || number > 65_535) throw new InvalidArgumentError('must be HOST or HOST:PORT, an IPv6 address in brackets.');
  return { host, port: number };
}
