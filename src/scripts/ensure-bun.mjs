// After `npm install`. Some npm versions refuse to run the install script of the `bun` package, which then is a stub: this runs
// it, so that `npm install && npm start` works with each of them. Then it builds the command line, for `npx tendril`; where only
// the manifest has been copied so far, as in the first layer of an image, there is nothing to build yet.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const folder = dirname(require.resolve('bun/package.json'))
const binary = join(folder, 'bin', 'bun.exe')
const STUB_BYTES = 1_000_000

if (!existsSync(binary) || statSync(binary).size < STUB_BYTES) {
  const { status } = spawnSync(process.execPath, ['install.js'], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

const script = join(dirname(fileURLToPath(import.meta.url)), 'build-cli.ts')
if (existsSync(script)) process.exit(spawnSync(binary, [script, '--quiet'], { stdio: 'inherit' }).status ?? 1)
