// Runs after `npm install`. Some npm versions refuse to run the install script of the `bun` package and leave a stub, so this runs
// it. Then it builds the command line for `npx tendril`, unless only the manifest is here yet, as in the first layer of an image.
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
if (existsSync(script))
  process.exit(spawnSync(binary, [script, '--quiet'], { stdio: 'inherit' }).status ?? 1)
