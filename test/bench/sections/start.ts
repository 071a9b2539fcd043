/**
 * How long a start takes until the server is healthy: from source and as the binary, with and
 * without an existing database.
 */
import { join } from 'node:path'
import { build } from '#src/scripts/build'
import { temporaryFolder } from '../../support/folder.ts'
import type { Row } from '../figures.ts'
import { residentMiB } from '../meter.ts'
import { startProcess } from '../spawn.ts'
import type { World } from '../world.ts'

const startOf = async (
  name: string,
  command: string[],
  env: Record<string, string>,
): Promise<Row> => {
  await using server = await startProcess(command, env)
  const mib = residentMiB(server.pid)
  const stopMs = await server.stop()
  return { what: `start to healthy, ${name}`, figures: { ms: server.startMs, mib, stopMs } }
}

/** The first start creates the database; the second finds it. */
const twice = async (name: string, command: string[]): Promise<Row[]> => {
  await using home = await temporaryFolder()
  const env = {
    TENDRIL_HOME: join(home.path, 'home'),
    PATH: process.env.PATH ?? '',
    LOG_LEVEL: 'warn',
  }
  return [
    await startOf(`${name}, first start (initdb)`, command, env),
    await startOf(`${name}, embedded database there`, command, env),
  ]
}

export async function start(world: World, withBinary: boolean): Promise<Row[]> {
  const source = [process.execPath, 'src/main.ts']
  const rows = [
    await startOf('source, DATABASE_URL', source, world.env),
    ...(await twice('source', source)),
  ]
  if (!withBinary) return rows
  await using folder = await temporaryFolder()
  const binary = [
    await build(join(import.meta.dir, '../../../src/main.ts'), join(folder.path, 'tendril')),
  ]
  return [
    ...rows,
    await startOf('binary, DATABASE_URL', binary, world.env),
    ...(await twice('binary', binary)),
  ]
}
