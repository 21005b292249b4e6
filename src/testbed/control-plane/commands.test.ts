import { describe, expect, it } from 'vitest';
import { apiServerCommand, controllerManagerCommand, SHORT_PACE } from './commands.ts';

const FILES = {
  certificate: 'c',
  key: 'k',
  serviceAccountKey: 's',
  serviceAccountPublicKey: 'p',
  tokens: 't',
  auditPolicy: 'a',
  managerKubeconfig: 'm',
  authority: 'ca',
};
const PLACES = { host: '127.0.0.1', etcdPort: 1, etcdPeerPort: 2, apiPort: 3, files: FILES };

function commandOf(minor: number): string[] {
  return controllerManagerCommand(PLACES, SHORT_PACE, minor);
}

function controllersOf(minor: number): string[] {
  const flag = commandOf(minor).find((word) => word.startsWith('--controllers='));
  return flag?.slice('--controllers='.length).split(',') ?? [];
}

describe('the command line of kube-controller-manager', () => {
  it('closes the plain port of 1.20, and leaves the flag away where it is refused', () => {
    expect(commandOf(20)).toContain('--port=0');
    expect(commandOf(36)).not.toContain('--port=0');
  });

  it('starts the eviction from tainted nodes, which is a controller of its own from 1.29 on', () => {
    expect(controllersOf(28)).not.toContain('taint-eviction-controller');
    expect(controllersOf(29)).toEqual([...controllersOf(28), 'taint-eviction-controller']);
  });

  it('tells pods whom to trust where kubelets run them', () => {
    const command = controllerManagerCommand(PLACES, SHORT_PACE, 36, { runsPods: true });
    expect(command).toContain('--root-ca-file=ca');
    expect(command.find((word) => word.startsWith('--controllers='))).toContain(',root-ca-certificate-publisher-controller');
    expect(commandOf(36).join(' ')).not.toContain('root-ca');
  });
});

describe('the command line of kube-apiserver', () => {
  it('leaves out the admission of ServiceAccounts, whose tokens need containers, unless kubelets run pods', () => {
    expect(apiServerCommand(PLACES, SHORT_PACE)).toContain('--disable-admission-plugins=ServiceAccount');
    expect(apiServerCommand(PLACES, SHORT_PACE, { runsPods: true }).join(' ')).not.toContain('ServiceAccount');
  });

  it('writes down what it is asked only for somebody who reads it', () => {
    expect(apiServerCommand(PLACES, SHORT_PACE, { isAudited: true })).toContain('--audit-log-path=-');
    expect(apiServerCommand(PLACES, SHORT_PACE).join(' ')).not.toContain('--audit');
  });
});
