/**
 * Peers in a package of their own, `peers/`: it is large, so it is installed when the bench first
 * needs it.
 */
import { existsSync, readFileSync } from 'node:fs'

const FOLDER = `${import.meta.dir}/peers`

const installed = (): boolean => {
  const { dependencies } = JSON.parse(readFileSync(`${FOLDER}/package.json`, 'utf8')) as {
    dependencies: Record<string, string>
  }
  return Object.entries(dependencies).every(([name, version]) => {
    const manifest = `${FOLDER}/node_modules/${name}/package.json`
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version
  })
}

/** What both say a deployment should set. */
export const PRODUCTION = { NODE_ENV: 'production', GRAPHILE_ENV: 'production' }

/** The command that starts the peer of this name. Installs the package if need be. */
export const peerCommand = async (
  name: 'dbos' | 'dbos-agent' | 'postgraphile',
  flags: string[] = [],
): Promise<string[]> => {
  if (!installed()) {
    console.error(`installing ${FOLDER}`)
    const install = Bun.spawn([process.execPath, 'install', '--frozen-lockfile'], {
      cwd: FOLDER,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if ((await install.exited) !== 0) throw new Error(`the install failed in ${FOLDER}`)
  }
  return [process.execPath, ...flags, `${FOLDER}/${name}.mjs`]
}
