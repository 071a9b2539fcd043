// Some npm versions refuse to run the install script of the `bun` package, which then is a stub.
// This runs it, so that `npm install && npm start` works with each of them.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)
const folder = dirname(require.resolve('bun/package.json'))
const binary = join(folder, 'bin', 'bun.exe')
const STUB_BYTES = 1_000_000

if (!existsSync(binary) || statSync(binary).size < STUB_BYTES) {
  const { status } = spawnSync(process.execPath, ['install.js'], { cwd: folder, stdio: 'inherit' })
  process.exit(status ?? 1)
}
