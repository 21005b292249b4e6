// Brings node_modules to what package-lock.json names. Plain JavaScript: runs before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const INSTALL_DEADLINE_MS = 15 * 60_000;
const LOCK_POLL_MS = 200;

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The runtime for this machine; the other optional packages are for other platforms, and npm's business. */
function isOurRuntime(entry) {
  return entry.bin?.node !== undefined && entry.os?.includes(process.platform) === true && entry.cpu?.includes(process.arch) === true;
}

/**
 * True when npm's own record of what it installed already agrees with the lock file, as after `npm install NAME`: then nothing is reinstalled
 * under the feet of running processes.
 */
function agrees(lockText, installedText) {
  if (installedText === undefined) return false;
  const locked = JSON.parse(lockText).packages;
  const installed = JSON.parse(installedText).packages;
  const stands = (path) => {
    const [want, have] = [locked[path], installed[path]];
    return have === undefined ? want.optional === true && !isOurRuntime(want) : have.version === want.version && have.integrity === want.integrity;
  };
  const paths = Object.keys(locked).filter((path) => path !== '');
  return paths.every(stands) && Object.keys(installed).every((path) => locked[path] !== undefined);
}

function install(root) {
  const npm = process.env['npm_execpath'];
  const [command, before] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  // `npm pack --dry-run` builds too: what it says to its own run is not for this one.
  const { npm_config_dry_run: _theirs, ...env } = process.env;
  return new Promise((resolve, reject) => {
    // Output goes to stderr: stdout belongs to the command that follows.
    const parameters = [...before, 'ci', '--include=dev', '--include=optional', '--no-progress'];
    const child = spawn(command, parameters, { cwd: root, env, stdio: ['ignore', 2, 2] });
    child.on('error', (error) => reject(new Error(`cannot start npm: ${error.message}`)));
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`npm ci failed (exit ${code}); its output is above`))));
  });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Two commands started at once in a fresh clone must not install over each other. */
async function underLock(root, work) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const path = join(root, '.cache', 'setup.lock');
  const giveUpAt = Date.now() + INSTALL_DEADLINE_MS;
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const holder = Number(read(path));
      if (holder > 0 && !isAlive(holder)) rmSync(path, { force: true });
      else if (Date.now() > giveUpAt) throw new Error(`another set-up (process ${holder}) holds ${path}; remove that file if none runs`);
      else await sleep(LOCK_POLL_MS);
    }
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Installs the locked dependencies unless the stamp says that they stand; quick when nothing is to do. */
export async function setUpDependencies(root) {
  const lockPath = join(root, 'package-lock.json');
  const stampPath = join(root, 'node_modules', '.nodefence-lock-sha256');
  const isCurrent = (hash) => read(stampPath) === hash;
  const hashOf = (text) => createHash('sha256').update(text).digest('hex');
  if (isCurrent(hashOf(readFileSync(lockPath)))) return;
  await underLock(root, async () => {
    const lockText = readFileSync(lockPath, 'utf8');
    const hash = hashOf(lockText);
    if (isCurrent(hash)) return;
    if (!agrees(lockText, read(join(root, 'node_modules', '.package-lock.json')))) {
      process.stderr.write('installing the locked dependencies (npm ci) ...\n');
      await install(root);
    }
    writeFileSync(stampPath, hash);
  });
}
