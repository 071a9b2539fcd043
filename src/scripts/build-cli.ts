/**
 * Builds `dist/cli`, the command line as a Node package without dependencies: `npm run build:cli`.
 * With `-- pack`, also builds the archive that `npm publish` would upload. `npm install` runs this
 * too, so that `npx tendril` works in a clone.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import type { BunPlugin } from 'bun'
import { capabilities, resources } from '#contract/index'
import { WORDS } from '#contract/shapes'
import { license, version } from '../../package.json'

const root = join(import.meta.dir, '..', '..')
const NAME = 'tendril-cli'
const FILE = 'tendril.mjs'
const SHEBANG = '#!/usr/bin/env node\n'
/** Third-party packages in the bundle, shipped with their licences. */
const INSIDE = ['commander', 'string-width', 'get-east-asian-width', 'strip-ansi', 'ansi-regex']

const readme = `# ${NAME}

The command line of Tendril, a self-hosted AI social growth operator. Needs Node 20 or later, and a Tendril server to talk to.

    npm install -g ${NAME}
    tendril login --api-url https://tendril.example.com
    tendril help

\`tendril <group> <command> --help\` explains a command with examples. \`--json\` prints answers for programs. Exit codes: 2 misuse,
3 not allowed, 4 plan, 5 not connected, 6 not found, 7 conflict, 8 try later, 9 the network failed, 10 a generation failed,
130 interrupted, 1 anything else.
\`eval "$(tendril completion bash)"\` completes commands; zsh and fish likewise.
`

const manifest = {
  name: NAME,
  version,
  description: 'The command line of Tendril',
  license,
  type: 'module',
  engines: { node: '>=20' },
  bin: { tendril: FILE },
  files: ['*.mjs', 'LICENSE', 'LICENSES-THIRD-PARTY'],
}

const licences = (): string =>
  INSIDE.map((name) => `${name}\n\n${licenceOf(name)}`).join(`\n${'-'.repeat(80)}\n\n`)

const licenceOf = (name: string): string => {
  const folder = join(root, 'node_modules', name)
  for (const file of ['LICENSE', 'license']) {
    try {
      return readFileSync(join(folder, file), 'utf8')
    } catch {}
  }
  throw new Error(`${name} has no licence file`)
}

/** Read by the server alone. `includes` would bring the whole other operation with it. */
const unread = Object.fromEntries(
  [
    ...['includes', 'bodyLimit', 'agent', 'foreign', 'toolset', 'outside', 'delegates'],
    ...['urgent', 'recalls', 'inParts', 'exempt', 'whileDeleting'],
  ].map((name) => [name, undefined]),
)

/** The contract as plain JSON. Of output schemas, it keeps only what the command line reads. */
const contractAsData = (): string => {
  const shapeOf = ({ properties = {} }: TSchema) =>
    Object.fromEntries(
      Object.entries(properties as Record<string, TSchema>).map(([name, { type }]) => [
        name,
        { type },
      ]),
    )
  const plain = resources.map((resource) => ({
    ...resource,
    group: Object.fromEntries(
      Object.entries(resource.group).map(([name, o]) => [
        name,
        { ...o, ...unread, output: { properties: shapeOf(o.output) } },
      ]),
    ),
  }))
  // JSON has no symbols.
  const named = (_: string, value: unknown) => {
    const words = (value as { [WORDS]?: readonly string[] } | null)?.[WORDS]
    return words ? { ...(value as object), 'x-words': words } : value
  }
  const data = (value: unknown) => JSON.stringify(JSON.stringify(value, named))
  return `import { nameOperations } from '#contract/op'
export const resources = JSON.parse(${data(plain)})
export const operations = resources.flatMap(nameOperations)
export const capabilities = JSON.parse(${data(capabilities.map(({ id, tool, input }) => ({ id, tool, input })))})`
}

/** Saves each start from constructing schemas and from loading TypeBox. */
const withContractAsData: BunPlugin = {
  name: 'contract as data',
  setup(build) {
    build.onLoad({ filter: /[/\\]src[/\\]contract[/\\]index\.ts$/ }, () => ({
      contents: contractAsData(),
      loader: 'ts',
    }))
  },
}

/** Builds the package into `folder` and returns the path of its program. */
export const buildCli = async (folder: string): Promise<string> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { outputs } = await Bun.build({
    entrypoints: [join(root, 'src', 'cli', 'bin.ts')],
    target: 'node',
    format: 'esm',
    minify: true,
    // Splitting keeps unneeded code unparsed, so that a start takes little longer than Node's own.
    splitting: true,
    plugins: [withContractAsData],
    naming: { entry: FILE, chunk: 'part-[hash].mjs' },
  })
  const path = join(folder, FILE)
  for (const output of outputs) {
    const isEntry = output.kind === 'entry-point'
    const file = isEntry ? path : join(folder, output.path)
    writeFileSync(file, (isEntry ? SHEBANG : '') + (await output.text()))
  }
  chmodSync(path, 0o755)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(folder, 'README.md'), readme)
  writeFileSync(join(folder, 'LICENSES-THIRD-PARTY'), licences())
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  return path
}

/** Packs a built package into `to` and returns the archive's path. */
export const packCli = (folder: string, to: string): string => {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['pack', '--silent', '--pack-destination', to],
    { cwd: folder, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  return join(to, stdout.trim())
}

if (import.meta.main) {
  const folder = join(root, 'dist', 'cli')
  const program = await buildCli(folder)
  if (process.argv[2] === 'pack') console.log(packCli(folder, join(root, 'dist')))
  else if (process.argv[2] !== '--quiet') console.log(program)
}
