/**
 * Packs Swagger UI for the page of the API's reference: `bun src/scripts/pack-swagger-ui.ts
 * [version]`, by default the packed one. It is no dependency, because installing it also installs a
 * package that reports the installation to its makers. With --check, only tells whether the packed
 * files are those of the package.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { SWAGGER_UI } from '#edge/reference'

const PACKAGE = 'swagger-ui-dist'
const folder = join(import.meta.dir, '../..', SWAGGER_UI)
const PACKED = ['swagger-ui-bundle.js', 'swagger-ui.css']
const COPIED = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt']

const run = (command: string[], cwd: string): string => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd })
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr}`)
  return stdout.toString().trim()
}

const packed = (): { version: string } =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** The folder of the package, as its registry has it. */
const unpack = (into: string, version: string): string => {
  const archive = run(['npm', 'pack', '--silent', `${PACKAGE}@${version}`], into)
  run(['tar', 'xzf', archive], into)
  return join(into, 'package')
}

const check = process.argv.includes('--check')
const [version = packed().version] = process.argv.slice(2).filter((one) => !one.startsWith('--'))
const temporary = mkdtempSync(join(tmpdir(), 'swagger-ui-'))
try {
  const source = unpack(temporary, version)
  const differing: string[] = []
  for (const name of [...PACKED, ...COPIED]) {
    const bytes = readFileSync(join(source, name))
    const isPacked = PACKED.includes(name)
    const target = join(folder, isPacked ? `${name}.br` : name)
    if (check) {
      const kept = readFileSync(target)
      if (!bytes.equals(isPacked ? brotliDecompressSync(kept) : kept)) differing.push(name)
    } else if (isPacked) {
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
      await Bun.write(target, brotliCompressSync(bytes, { params }))
    } else await Bun.write(target, bytes)
  }
  if (!check)
    await Bun.write(
      join(folder, 'package.json'),
      `${JSON.stringify({ name: PACKAGE, version }, null, 2)}\n`,
    )
  if (differing.length > 0) throw new Error(`not as in ${PACKAGE} ${version}: ${differing}`)
  console.log(`${PACKAGE} ${version}: ${check ? 'as packed' : 'packed'}`)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
