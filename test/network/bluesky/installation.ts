/** A folder with a real PDS, and the Node that runs it. */
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const NODE = '22.23.3'
const PACKAGES = ['@atproto/dev-env@0.6.7', '@atproto/api@0.21.0']
/** 665 packages of 510 MB, some of which are compiled. */
const INSTALLS_WITHIN_MS = 30 * 60_000
/** Written last: what was broken off is installed anew. */
const DONE = 'installed'

export interface Installation {
  folder: string
  node: string
}

const nodePackage = `node-${process.platform}-${process.arch}`

/**
 * The package `node` gets its program by a script, which npm runs for nobody who has not approved
 * it. The package that holds the program needs none, and stands in a folder of its own, where the
 * other packages cannot move it.
 */
const nodeIn = (folder: string): string => join(`${folder}-node`, 'node_modules', nodePackage)

const npm = async (folder: string, args: string[], env: Record<string, string> = {}) => {
  await mkdir(folder, { recursive: true })
  const file = Bun.file(join(folder, 'package.json'))
  if (!(await file.exists())) await file.write('{"name":"real-pds","private":true}\n')
  const child = Bun.spawn(['npm', ...args, '--no-audit', '--no-fund'], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALLS_WITHIN_MS,
  })
  const words = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`npm ${args.join(' ')}: ${words.slice(-500)}`)
}

const install = async (folder: string): Promise<void> => {
  const node = nodeIn(folder)
  console.log(`installing ${PACKAGES.join(', ')} into ${folder}, once: some minutes`)
  for (const part of [folder, `${folder}-node`]) await rm(part, { recursive: true, force: true })
  await npm(`${folder}-node`, ['install', `${nodePackage}@${NODE}`])
  const env = {
    PATH: `${join(node, 'bin')}${delimiter}${process.env.PATH}`,
    npm_config_nodedir: node,
  }
  await npm(folder, ['install', ...PACKAGES], env)
  // It may have been built for the system's Node.
  await npm(folder, ['rebuild', 'better-sqlite3'], env)
  await Bun.write(join(folder, DONE), '')
}

/** The installation that `TENDRIL_PDS` names, or one in the folder for temporary files. */
export const installed = async (): Promise<Installation> => {
  const given = process.env.TENDRIL_PDS
  const folder = given ?? join(tmpdir(), 'tendril-real-pds')
  if (!given && !existsSync(join(folder, DONE))) await install(folder)
  const node = join(nodeIn(folder), 'bin', 'node')
  for (const part of [join(folder, 'node_modules/@atproto/dev-env'), node])
    if (!existsSync(part)) throw new Error(`${part} is missing`)
  return { folder, node }
}
