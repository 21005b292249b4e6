import { findAssets } from '../../src/testbed/control-plane/assets.ts';
import { uninstalls } from './uninstall-suite.ts';

const assets = findAssets(process.env);

uninstalls('a real API server', assets !== undefined, assets);
